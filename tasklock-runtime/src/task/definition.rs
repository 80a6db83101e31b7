//! What the attribute says about a task.

mod read;

use std::time::Duration;

use super::renew::Renew;
use super::schedule::{Declared, Missed};

/// What happens to the handler when its lease is lost: the attribute's `on_lost`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnLost {
    /// The handler's future is dropped at its next await point.
    #[default]
    Abort,
    /// The handler is only told, and ends by itself.
    Signal,
    /// The process ends with code 75, after its other leases were marked lost and given back.
    Exit,
}

/// The options of one `#[locked_task]`. Built in a `const`, by the macro: the defaults are here, the
/// macro names only what the user gave.
#[derive(Debug, Clone)]
pub struct Definition {
    pub(crate) name: &'static str,
    ttl: Option<Duration>,
    pub(super) heartbeat: Option<Duration>,
    margin: Option<Duration>,
    pub(super) renew: Renew,
    pub(super) stall: Option<Duration>,
    pub(super) schedule: Declared,
    jitter: Option<Duration>,
    missed: Option<Missed>,
    max_missed: Option<u32>,
    catch_up: Option<Duration>,
    on_start: bool,
    aliases: &'static [&'static str],
    pub(crate) timeout: Option<Duration>,
    pub(crate) on_lost: OnLost,
    on_lost_given: bool,
    retries: Option<u32>,
    backoff: (Duration, Duration),
    max_crashes: u32,
    concurrency: Option<u32>,
    queue: &'static str,
    priority: i16,
    min_hold: Option<Duration>,
    keep: Option<Duration>,
    /// The second lease, where its name says nothing of a payload.
    pub(crate) resource: Option<&'static str>,
    blocking: bool,
    payload: bool,
}

impl Definition {
    /// The queue of a task that names none.
    pub const DEFAULT_QUEUE: &'static str = "default";

    /// How many missed slots are caught up with at most, where none says otherwise.
    pub const MAX_MISSED: u32 = 100;

    /// An on-demand task with the default timing.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            ttl: None,
            heartbeat: None,
            margin: None,
            renew: Renew::Auto,
            stall: None,
            schedule: Declared::OnDemand,
            jitter: None,
            missed: None,
            max_missed: None,
            catch_up: None,
            on_start: false,
            aliases: &[],
            timeout: None,
            on_lost: OnLost::Abort,
            on_lost_given: false,
            retries: None,
            backoff: (Duration::from_secs(1), Duration::from_secs(10 * 60)),
            max_crashes: 5,
            concurrency: None,
            queue: Self::DEFAULT_QUEUE,
            priority: 0,
            min_hold: None,
            keep: Some(Duration::from_secs(24 * 60 * 60)),
            resource: None,
            blocking: false,
            payload: false,
        }
    }

    /// The lease's length.
    #[must_use]
    pub const fn ttl_nanos(mut self, nanos: u64) -> Self {
        self.ttl = Some(Duration::from_nanos(nanos));
        self
    }

    /// The renewal period.
    #[must_use]
    pub const fn heartbeat_nanos(mut self, nanos: u64) -> Self {
        self.heartbeat = Some(Duration::from_nanos(nanos));
        self
    }

    /// How long before the store's expiry the loss is signalled.
    #[must_use]
    pub const fn margin_nanos(mut self, nanos: u64) -> Self {
        self.margin = Some(Duration::from_nanos(nanos));
        self
    }

    /// Runs at a fixed rate.
    #[must_use]
    pub const fn every_nanos(mut self, nanos: u64) -> Self {
        self.schedule = Declared::Every(Duration::from_nanos(nanos));
        self
    }

    /// Runs at a fixed delay after the end of the run before.
    #[must_use]
    pub const fn after_nanos(mut self, nanos: u64) -> Self {
        self.schedule = Declared::After(Duration::from_nanos(nanos));
        self
    }

    /// Runs by the calendar, in UTC.
    #[must_use]
    pub const fn cron(mut self, expression: &'static str) -> Self {
        self.schedule = match self.schedule {
            Declared::Cron(_, zone) => Declared::Cron(expression, zone),
            _ => Declared::Cron(expression, None),
        };
        self
    }

    /// The zone of the calendar; after [`cron`](Self::cron).
    #[must_use]
    pub const fn tz(mut self, zone: &'static str) -> Self {
        if let Declared::Cron(expression, _) = self.schedule {
            self.schedule = Declared::Cron(expression, Some(zone));
        }
        self
    }

    /// The longest time by which a slot's run falls due later.
    #[must_use]
    pub const fn jitter_nanos(mut self, nanos: u64) -> Self {
        self.jitter = Some(Duration::from_nanos(nanos));
        self
    }

    /// What is done about slots that were missed.
    #[must_use]
    pub const fn missed(mut self, missed: Missed) -> Self {
        self.missed = Some(missed);
        self
    }

    /// The most slots that wait to be caught up with; older ones are skipped.
    #[must_use]
    pub const fn max_missed(mut self, slots: u32) -> Self {
        self.max_missed = Some(slots);
        self
    }

    /// Slots that fell due longer ago are skipped.
    #[must_use]
    pub const fn catch_up_nanos(mut self, nanos: u64) -> Self {
        self.catch_up = Some(Duration::from_nanos(nanos));
        self
    }

    /// Runs once for each deployed version, too.
    #[must_use]
    pub const fn on_start(mut self, on_start: bool) -> Self {
        self.on_start = on_start;
        self
    }

    /// Former names of the task, whose jobs are its own.
    #[must_use]
    pub const fn aliases(mut self, names: &'static [&'static str]) -> Self {
        self.aliases = names;
        self
    }

    /// The longest run.
    #[must_use]
    pub const fn timeout_nanos(mut self, nanos: u64) -> Self {
        self.timeout = Some(Duration::from_nanos(nanos));
        self
    }

    /// What a lost lease does to the handler.
    #[must_use]
    pub const fn on_lost(mut self, on_lost: OnLost) -> Self {
        self.on_lost = on_lost;
        self.on_lost_given = true;
        self
    }

    /// Attempts after the first error.
    #[must_use]
    pub const fn retries(mut self, retries: u32) -> Self {
        self.retries = Some(retries);
        self
    }

    /// The least and the most time from an error to the next attempt.
    #[must_use]
    pub const fn backoff_nanos(mut self, least: u64, most: u64) -> Self {
        self.backoff = (Duration::from_nanos(least), Duration::from_nanos(most));
        self
    }

    /// So many crashes and lost leases, and the job is dead as poison.
    #[must_use]
    pub const fn max_crashes(mut self, crashes: u32) -> Self {
        self.max_crashes = crashes;
        self
    }

    /// The most runs of this task at once, across the fleet.
    #[must_use]
    pub const fn concurrency(mut self, runs: u32) -> Self {
        self.concurrency = Some(runs);
        self
    }

    /// Which workers take it.
    #[must_use]
    pub const fn queue(mut self, queue: &'static str) -> Self {
        self.queue = queue;
        self
    }

    /// The order among the due: greater is earlier.
    #[must_use]
    pub const fn priority(mut self, priority: i16) -> Self {
        self.priority = priority;
        self
    }

    /// The shortest time from one start to the next.
    #[must_use]
    pub const fn min_hold_nanos(mut self, nanos: u64) -> Self {
        self.min_hold = Some(Duration::from_nanos(nanos));
        self
    }

    /// How long a finished job stays visible.
    #[must_use]
    pub const fn keep_nanos(mut self, nanos: u64) -> Self {
        self.keep = Some(Duration::from_nanos(nanos));
        self
    }

    /// A finished job does not stay at all.
    #[must_use]
    pub const fn keep_none(mut self) -> Self {
        self.keep = None;
        self
    }

    /// A second lease that each run takes, of this name.
    #[must_use]
    pub const fn resource(mut self, name: &'static str) -> Self {
        self.resource = Some(name);
        self
    }

    /// The handler is a plain function: it runs on the blocking pool, and cannot be aborted.
    #[must_use]
    pub const fn blocking(mut self) -> Self {
        self.blocking = true;
        if !self.on_lost_given {
            self.on_lost = OnLost::Signal;
        }
        self
    }

    /// The handler takes a payload.
    #[must_use]
    pub const fn payload(mut self) -> Self {
        self.payload = true;
        self
    }
}
