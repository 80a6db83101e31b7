//! The statements, written for Postgres. Their forms were tried under forced interleavings; what looks
//! like it could be one statement fewer usually cannot (see [`crate::store`]).
//!
//! `statement_timestamp()` stands in predicates, where the index can serve it and where being a little
//! early errs to the safe side; `clock_timestamp()` in what is written.
//!
//! Statements that are sent without a transaction of their own take their arrays through a subquery: the server then does
//! not know how long they are when it plans, finds that a plan for these values costs as much as one for any, and plans
//! once for each connection. To plan took it longer than to carry them out.

mod claim;
mod jobs;
mod lease;
mod named;
mod resources;

use super::fragments::Fragments;
use crate::fault;
use crate::store::schema::Names;
use crate::store::sql::Text;

/// With a bound on the server's side, in the same round trip: a worker that is stopped, or cut off, in
/// the midst of a transaction would else hold its row locks, and nobody could take over. A statement
/// and no startup parameter, which poolers refuse.
///
/// To plan a claim takes the server three times as long as to carry it out, and all of these statements have to go by an
/// index, whatever their parameters and however small the tables were when the first one came: so they are planned once
/// for each connection, and without the plans that read all of a table because it is small.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; \
    SELECT set_config('idle_in_transaction_session_timeout', '2s', true), \
    set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true), \
    set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), \
    set_config('enable_mergejoin', 'off', true), \
    CASE WHEN current_setting('synchronous_commit') = 'off' \
    THEN set_config('synchronous_commit', 'local', true) END";

/// $1 name, $2 fence; no row if a greater one is registered. In a foreign database. An equal fence is
/// written too, so that a snapshot that had to wait for its lock fails; and where nothing is written, the
/// row is locked all the same.
pub(super) const REGISTER_FENCE: &str = "
INSERT INTO tasklock_fence AS f (name, fence, updated_at) VALUES ($1, $2, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET fence = excluded.fence, updated_at = excluded.updated_at
WHERE f.fence <= excluded.fence
RETURNING f.fence";

/// $1 name
pub(super) const REGISTERED_FENCE: &str = "SELECT fence FROM tasklock_fence WHERE name = $1";

/// $1 why. Fails, and so aborts the transaction; the reason stands in the server's log.
pub(super) const ABORT: &str = "SELECT CAST($1::text AS bigint)";

/// The statements with the tables' names in place.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) now: Text,
    pub(super) lock_limited: Text,
    pub(super) claim_due: Text,
    pub(super) lock_expired: Text,
    pub(super) take_expired: Text,
    pub(super) next_event: Text,
    pub(super) renew: Text,
    pub(super) finish: Text,
    pub(super) finish_away: Text,
    pub(super) release: Text,
    pub(super) drop_beats: Text,
    pub(super) tell_slots: Text,
    pub(super) guard: Text,
    pub(super) guard_to_complete: Text,
    pub(super) complete: Text,
    pub(super) by_token: Text,
    pub(super) acquire_free: Text,
    pub(super) acquire: Text,
    pub(super) names_free: Text,
    pub(super) lock_expired_names: Text,
    pub(super) take_expired_names: Text,
    pub(super) leave: Text,
    pub(super) prune_line: Text,
    pub(super) inherit: Text,
    pub(super) put_back: Text,
    pub(super) park: Text,
    pub(super) assign: Text,
    pub(super) awaited: Text,
    pub(super) free: Text,
    pub(super) free_names: Text,
    pub(super) unpark: Text,
    pub(super) sweep: Text,
    pub(super) identity: Text,
    pub(super) declare: Text,
    pub(super) aliases: Text,
    pub(super) alias: Text,
    pub(super) unalias: Text,
    pub(super) lock_aliases: Text,
    pub(super) lapsing: Text,
    pub(super) rename_jobs: Text,
    pub(super) rename_pause: Text,
    pub(super) undeclared: Text,
    pub(super) rename: Text,
    pub(super) drop_former: Text,
    pub(super) standings: Text,
    pub(super) lock_standings: Text,
    pub(super) redeclare: Text,
    pub(super) trigger: Text,
    pub(super) inspect: Text,
    pub(super) standing: Text,
    pub(super) enqueue: Text,
    pub(super) enqueue_plain: Text,
    pub(super) enqueue_alone: Text,
    pub(super) key_taken: Text,
    pub(super) lock_job: Text,
    pub(super) cancel_waiting: Text,
    pub(super) cancel_running: Text,
    pub(super) retry: Text,
    pub(super) pause: Text,
    pub(super) resume: Text,
    pub(super) paused: Text,
    pub(super) prune: Text,
    pub(super) prune_beats: Text,
    pub(super) job: Text,
    pub(super) jobs: Text,
    /// What announcements of work are sent on.
    pub(super) channel: String,
    /// What those of names are sent on.
    pub(super) lease_channel: String,
}

impl Statements {
    pub(super) fn new(names: &Names) -> Self {
        let fragments = Fragments::new();
        let fill = |sql: &str| Text::from(fault::statement(names.fill(&fragments.fill(sql))));
        Self {
            now: fill("SELECT {now}"),
            lock_limited: fill(claim::LOCK_LIMITED),
            claim_due: fill(claim::CLAIM_DUE),
            lock_expired: fill(claim::LOCK_EXPIRED),
            take_expired: fill(claim::TAKE_EXPIRED),
            next_event: fill(claim::NEXT_EVENT),
            renew: fill(lease::RENEW),
            finish: fill(lease::FINISH),
            finish_away: fill(lease::FINISH_AWAY),
            release: fill(lease::RELEASE),
            drop_beats: fill(lease::DROP_BEATS),
            tell_slots: fill(lease::TELL_SLOTS),
            guard: fill(&format!("{} FOR SHARE", lease::GUARD)),
            guard_to_complete: fill(&format!("{} FOR NO KEY UPDATE", lease::GUARD)),
            complete: fill(lease::COMPLETE),
            by_token: fill(lease::BY_TOKEN),
            acquire_free: fill(named::ACQUIRE_FREE),
            acquire: fill(named::ACQUIRE),
            names_free: fill(named::NAMES_FREE),
            lock_expired_names: fill(named::LOCK_EXPIRED_NAMES),
            take_expired_names: fill(named::TAKE_EXPIRED_NAMES),
            leave: fill(named::LEAVE),
            prune_line: fill(named::PRUNE_LINE),
            inherit: fill(resources::INHERIT),
            put_back: fill(resources::PUT_BACK),
            park: fill(resources::PARK),
            assign: fill(resources::ASSIGN),
            awaited: fill(resources::AWAITED),
            free: fill(resources::FREE),
            free_names: fill(resources::FREE_NAMES),
            unpark: fill(resources::UNPARK),
            sweep: fill(resources::SWEEP),
            identity: fill("SELECT id FROM {s}{p}store"),
            declare: fill(jobs::DECLARE),
            aliases: fill(jobs::ALIASES),
            alias: fill(jobs::ALIAS),
            unalias: fill(jobs::UNALIAS),
            lock_aliases: fill(jobs::LOCK_ALIASES),
            lapsing: fill(jobs::LAPSING),
            rename_jobs: fill(jobs::RENAME_JOBS),
            rename_pause: fill(jobs::RENAME_PAUSE),
            undeclared: fill(jobs::UNDECLARED),
            rename: fill(jobs::RENAME),
            drop_former: fill(jobs::DROP_FORMER),
            standings: fill(jobs::STANDINGS),
            lock_standings: fill(&format!("{} FOR NO KEY UPDATE", jobs::STANDINGS)),
            redeclare: fill(jobs::REDECLARE),
            trigger: fill(jobs::TRIGGER),
            inspect: fill(&format!("{} WHERE j.id = ANY($1::bigint[])", jobs::ROW)),
            standing: fill(&format!(
                "{} WHERE j.task = $1 AND j.unique_key = ''",
                jobs::ROW
            )),
            enqueue: fill(&jobs::enqueue(jobs::ENQUEUE)),
            enqueue_plain: fill(&jobs::enqueue(jobs::ENQUEUE_PLAIN)),
            enqueue_alone: fill(&jobs::enqueue(jobs::ENQUEUE_ALONE)),
            key_taken: fill(jobs::KEY_TAKEN),
            lock_job: fill(jobs::LOCK_JOB),
            cancel_waiting: fill(jobs::CANCEL_WAITING),
            cancel_running: fill(jobs::CANCEL_RUNNING),
            retry: fill(jobs::RETRY),
            pause: fill(jobs::PAUSE),
            resume: fill(jobs::RESUME),
            paused: fill(jobs::PAUSED),
            prune: fill(jobs::PRUNE),
            prune_beats: fill(jobs::PRUNE_BEATS),
            job: fill(&jobs::job()),
            jobs: fill(&jobs::jobs()),
            channel: channel(names, "{p}job"),
            lease_channel: channel(names, "{p}lease"),
        }
    }
}

fn channel(names: &Names, name: &str) -> String {
    match names.schema() {
        // Schema and prefix are at most 40 bytes each, a channel's name 63.
        Some(schema) => short(&format!("{schema}.{}", names.fill(name))),
        None => names.fill(name),
    }
}

/// Postgres cuts identifiers at 63 bytes; two long names must not become one channel.
fn short(name: &str) -> String {
    if name.len() <= 63 {
        return name.to_owned();
    }
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{}_{hash:016x}", &name[..46])
}
