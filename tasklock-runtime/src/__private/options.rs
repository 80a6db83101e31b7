//! What editors show of an option of `#[locked_task]`, where somebody points at it.
//!
//! The options of an attribute are no items, so nothing documents them. Each has a constant here, whose
//! value is the example of the option's; the expansion imports it under the user's own token, and uses
//! nothing of it. The texts are those of `locked_task.md` in the macro's crate, and a test holds both
//! together.

#![allow(non_upper_case_globals)]

/// The task's name in the store, where all replicas meet. Default: the function's name.
///
/// 1 to 128 bytes, no control characters, no blanks at the ends. Renaming a task makes it another one, unless its former name
/// is an `alias`.
pub const name: &str = "billing.refresh";

/// A former name of the task, or several in brackets: `["billing.refresh", "refresh"]`. Default: none.
///
/// What waits and runs under a former name is the task's: its standing job at the start of the first worker that knows the new
/// name, and enqueued jobs soon after it, whoever runs them just then (a unique key that is taken under the new name has to be free
/// first). Workers that know the old name alone find nothing more of it, also when they start again; what they enqueue is renamed
/// within a minute and a half. What was paused stays so, under the new name: resume that. Six minutes or so after the last worker that
/// knows the new name has gone, they take all of it back: somebody has gone back to the old version. Leave the alias there until no
/// old worker is left. `concurrency` is counted apart for each name while both run, and so are fences in a database that holds no
/// leases (`fence_table`).
pub const alias: &str = "refresh";

/// How long the lease lasts without a heartbeat, and so how long a crashed runner blocks the others.
/// Default: `"30s"`. At least `"500ms"`.
pub const ttl: &str = "2m";

/// How often the lease is renewed. Default: a third of `ttl`.
///
/// Two heartbeats and `margin` must fit in `ttl`, so that one may be missed; also against the defaults.
pub const heartbeat: &str = "15s";

/// How long before the store's expiry the handler learns of a loss: its head start on the next runner.
/// Default: a fifth of `ttl`.
///
/// The database may be away for `ttl − margin − heartbeat − ttl/8` (one call) without any run losing its
/// lease: 10.25 s with the defaults. That must be longer than zero.
pub const margin: &str = "10s";

/// What a renewal of the lease depends on. Default: `"auto"`.
///
/// - `"auto"`: on the process alone. The heartbeat renews while it lives, so a handler that hangs is renewed
///   for ever, unless it has a `timeout`.
/// - `"progress"`: on the handler's reports. The heartbeat renews while it has called `lease.progress(done, total)`
///   within the `stall`; every call is a sign of life, whether or not the numbers have changed, and nothing
///   else is. When it has said nothing for that long, counted from the claim at first, the lease is lost there and
///   then, with the reason `Stalled`: `on_lost` applies, nothing is written, and another replica takes the
///   job over once the row has expired, at most a `ttl` (and a poll) later. It counts as a crash, so
///   `max_crashes` bounds a job that stalls always. While the machine sleeps the time goes on.
/// - `"manual"`: on the handler's calls of `lease.renew()` or `blocking_renew()`, each of which extends the
///   lease by its `ttl` once; call it at least each third of that. Else the lease is lost at its deadline
///   (`Expired`), `ttl − margin` after the claim or the last call that was confirmed. A call that the database does not
///   answer is tried again until it does, or until the deadline. There is no heartbeat, and no option `heartbeat`.
///   Who cancels the job, and who takes the row away, is heard of by the next call.
///
/// In each case the handler is told before anybody else can start.
pub const renew: &str = "progress";

/// How long the handler may report nothing, with `renew = "progress"`. Default: `ttl`.
///
/// At least one `heartbeat`, and less than `timeout`, which else always comes first. Take several times
/// what the slowest step between two reports takes.
pub const stall: &str = "2m";

/// Runs at a fixed rate. Default: none, the task runs on demand. At least `"100ms"`; excludes `after` and
/// `cron`.
///
/// Its slots are the multiples of that time since the Unix epoch: all replicas agree on them. Slots that pass while a run is still
/// going on, or while no replica is up, are covered by one run, unless `missed` says otherwise.
pub const every: &str = "5m";

/// Runs at a fixed delay after the end of the run before. Default: none. Excludes `every` and
/// `cron`.
pub const after: &str = "30s";

/// Runs by the calendar, in the zone `tz`. Default: none. Excludes `every` and `after`.
///
/// Five fields, separated by blanks: minute, hour, day of the month, month, day of the week; or six, with seconds first.
///
/// - `*` is every value, `1-5` a range, `1,3,5` a list, `*/15` and `0-30/10` steps. Months and days have names (`JAN`, `MON`), `0` and `7` are
///   Sunday, `2` is Tuesday (in Quartz it is Monday).
/// - Of the month: `L` is the last day, `L-3` three before it, `LW` the last weekday, `15W` the weekday nearest to the 15th. Of the week: `FRI#3` is the
///   third Friday, `5L` or `FRIL` the last one.
/// - Where both days are given, either will do; where one of the two fields starts with `*`, both must match.
/// - `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly` stand alone.
///
/// What never comes, as `0 0 31 2 *`, is a compile error like any other mistake.
///
/// When clocks are set, a cron whose minute or hour starts with `*` follows the clock on the wall: it runs in both passes of an hour
/// that comes twice, and not in one that is skipped. Every other cron runs once for each of its times: at the end of the
/// gap if that is skipped, once if it comes twice. `tasklock_runtime::preview` lists what comes.
pub const cron: &str = "30 2 * * MON-FRI";

/// The zone of the `cron`, by its name in the IANA database. Default: `"UTC"`.
///
/// Most mistakes are compile errors; whether there is such a zone is known at the start, from the machine's own database or
/// the one that is built in. Replicas with different databases agree as far as these do.
pub const tz: &str = "America/New_York";

/// How much later than its slot a run may fall due, so that not all tasks start at once. Default: none.
///
/// The time depends on the task's name and on the slot: always the same for the same slot, and evenly spread over many.
/// `lease.scheduled_for()` is the slot, without it. Less than the time between two slots.
pub const jitter: &str = "5m";

/// What becomes of slots that pass while nobody can run them: no worker is up, all are busy, or the run before lasts.
/// Default: `"once"`. With `every` or `cron`.
///
/// - `"once"`: one run, of the first of them, stands for all.
/// - `"skip"`: they are not run. A slot counts as missed when a minute has passed, or a second, and the next slot is due.
/// - `"all"`: each is run, one after the other, the newest `max_missed` of them.
///
/// A slot is judged by its first claim: what was claimed in time is tried to its end, however long that takes. `client.jobs()` tells how many slots were covered by
/// another one's run (`missed`) and how many by none (`skipped`).
pub const missed: &str = "all";

/// The most slots that `missed = "all"` runs when they were missed; older ones are skipped. Default: 100. From 1 to 10000.
pub const max_missed: u32 = 24;

/// Slots that fell due longer ago than this, when they are first claimed, are skipped. Default: none is too old. At least `"1s"`; not with
/// `missed = "skip"`.
pub const catch_up: &str = "6h";

/// Whether the task runs once for each deployed version, beside its schedule if it has one. Default: `false`.
///
/// A version is told by the hash of the program's file, or by what `TASKLOCK_VERSION` or `RuntimeBuilder::version` says: set that where
/// several programs, or builds for several machines, have the task. The last eight are remembered, so that nothing runs when somebody
/// goes back to one. However many replicas start, there is one run. It is made by any worker that has the task, an old one
/// among them while there are some.
pub const on_start: bool = true;

/// The longest run: then the future is dropped at its next await point, and the run counts as failed. A
/// plain `fn` is only told. Default: none.
pub const timeout: &str = "10m";

/// What the loss of the lease does to a handler that is still running. Default: `"abort"`, for a plain `fn`
/// `"signal"`.
///
/// - `"abort"`: its future is dropped at its next await point. Not for a plain `fn`.
/// - `"signal"`: it is only told, through its `LeaseContext`, and ends by itself.
/// - `"exit"`: the process ends with code 75. For handlers whose code cannot be stopped otherwise.
pub const on_lost: &str = "signal";

/// How many further attempts a job has after its first error. Default: 5 on demand; 0 with `every`,
/// `after` or `cron`, whose next slot is the next attempt. From 0 to 1000000.
///
/// An attempt is used up by an error, a panic and a `timeout`, not by a crash or a lost lease (see
/// `max_crashes`). When none is left, an on-demand job is dead; of a scheduled task only this slot has
/// failed.
pub const retries: u32 = 3;

/// The shortest and the longest time from an error to the next attempt, as two durations with two dots
/// between them. Default: `"1s..10m"`. The shortest is at least `"100ms"` and at most the longest.
///
/// The time grows exponentially from attempt to attempt, with jitter, and is never below the first bound.
/// `"5s..5s"` is a constant time.
pub const backoff: &str = "5s..1h";

/// How many crashes and lost leases a job may have: at that many it is dead, as poison, so that it cannot
/// take down one replica after the other. Default: 5. From 1 to 1000000. Counted apart from `retries`.
pub const max_crashes: u32 = 2;

/// The most runs of this task at once, across all replicas. Default: no bound on demand; 1 with `every`,
/// `after` or `cron`, where no more is allowed, because such a task has one job. From 1 to 1000000.
pub const concurrency: u32 = 3;

/// A second lease for each run, on a name that is made of what the job carries: jobs with the same name exclude each other,
/// whatever task they are of, and so does code by hand that holds `client.lease(name)`. Default: none.
///
/// Between braces stands a field of the payload, as in `"invoice:{invoice}"`, `"{customer.id}"` or, of a tuple,
/// `"{0}"`; `{}` is the payload itself. Each is shown by its `Display`, without a format; a brace of the name's own is
/// written twice. The name has 1 to 128 bytes, no control characters, no blanks at the ends: what a field adds to it is
/// checked where the job is enqueued, which fails. A name without braces is the same for all jobs of the task, and needs no payload.
///
/// The name is made where the handle enqueues the job, and stays with it. A job that was enqueued by the task's name gets it
/// from the worker that takes it first; where its payload makes no name, it ends as one that cannot be read.
///
/// A job whose name is held waits for it, and uses up no attempt. The run holds both leases or neither: losing one of them
/// loses the run, and `lease.commit` checks both. `lease.resource()` and `lease.resource_fence()` tell the name, and the
/// fence under which it is held, which increases with each holder of the name, of whatever task.
pub const resource: &str = "invoice:{invoice}";

/// Which workers take the task: those that were told so by `RuntimeBuilder::queues` or `TASKLOCK_QUEUES`, and
/// those that were told nothing, which take all. Default: `"default"`. 1 to 128 bytes, no control
/// characters, no blanks at the ends.
pub const queue: &str = "slow";

/// The order among the jobs that are due: each point puts a job ahead as if it had fallen due one second
/// earlier, so nothing waits for ever. Default: 0. From -32768 to 32767. A worker looks at each priority that
/// waits in its tasks: a few are cheap, thousands of different ones are not.
///
/// A job that is enqueued may be given another one.
pub const priority: i16 = 60;

/// The shortest time from one start to the next, even after a quick end. Default: none.
///
/// Needs something that keeps the next run back: a schedule, `concurrency`, or a task without a
/// payload. Jobs with a payload run side by side otherwise.
pub const min_hold: &str = "1m";

/// How long a finished job stays visible, or `"none"` for not at all. Default: `"1d"`. Dead jobs stay for
/// that long too, but at least for seven days.
pub const keep: &str = "none";

/// The name of the handle, or `false` for none. Default: the function's name. Needed where a type of the
/// function's name exists already, such as a module that is re-exported as `mod sync; pub use sync::sync;`.
pub const handle: &str = "RefreshTask";
