//! The statements, written for SQLite. Instants are microseconds; SQLite's own clock shows
//! milliseconds. Batches travel as JSON, read with `json_each`.

mod claim;
mod jobs;
mod lease;
mod named;
mod resources;

use super::fragments::Fragments;
use crate::fault;
use crate::store::schema::Names;
use crate::store::sql::Text;

/// One writer at a time, from the first statement on: a transaction that starts as a reader and then
/// writes can fail half-way, and one that reads the clock before it waits for the lock reads it early.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// ?1 name, ?2 fence; in a foreign file. A refused fence leaves a reference to a row that cannot be there,
/// for no name is empty.
pub(super) const REGISTER_FENCE: &str = "
INSERT INTO tasklock_fence (name, fence, updated_at)
VALUES (?1, ?2, strftime('%Y-%m-%d %H:%M:%f', 'now'))
ON CONFLICT (name) DO UPDATE SET fence = max(fence, excluded.fence), updated_at = excluded.updated_at,
    refused = CASE WHEN excluded.fence < fence THEN '' END
RETURNING fence, refused IS NOT NULL";

/// The statements with the tables' names in place.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) path: std::path::PathBuf,
    pub(super) now: Text,
    pub(super) next_event: Text,
    pub(super) lanes: Text,
    pub(super) due: Text,
    pub(super) claim_due: Text,
    pub(super) expired: Text,
    pub(super) take_expired: Text,
    pub(super) renew: Text,
    pub(super) finish: Text,
    pub(super) finish_away: Text,
    pub(super) release: Text,
    pub(super) guard: Text,
    pub(super) abandon: Text,
    pub(super) next_fences: Text,
    pub(super) acquire: Text,
    pub(super) acquire_new: Text,
    pub(super) look: Text,
    pub(super) stand: Text,
    pub(super) leave: Text,
    pub(super) prune_line: Text,
    pub(super) put_back: Text,
    pub(super) park: Text,
    pub(super) assign: Text,
    pub(super) unpark: Text,
    pub(super) unpark_names: Text,
    pub(super) sweep: Text,
    pub(super) has_parked: Text,
    pub(super) identity: Text,
    pub(super) identity_to_write: Text,
    pub(super) declare: Text,
    pub(super) aliased: Text,
    pub(super) realias: Text,
    pub(super) alias: Text,
    pub(super) unalias: Text,
    pub(super) lapsing: Text,
    pub(super) rename_jobs: Text,
    pub(super) rename_pause: Text,
    pub(super) drop_pause: Text,
    pub(super) has_former: Text,
    pub(super) undeclared: Text,
    pub(super) rename: Text,
    pub(super) drop_former: Text,
    pub(super) declared: Text,
    pub(super) redeclare: Text,
    pub(super) trigger_read: Text,
    pub(super) trigger_write: Text,
    pub(super) inspect: Text,
    pub(super) standing: Text,
    pub(super) enqueue: Text,
    pub(super) enqueue_alike: Text,
    pub(super) key_taken: Text,
    pub(super) job_state: Text,
    pub(super) cancel_waiting: Text,
    pub(super) cancel_running: Text,
    pub(super) key_holder: Text,
    pub(super) retry: Text,
    pub(super) pause: Text,
    pub(super) resume: Text,
    pub(super) paused: Text,
    pub(super) prunable: Text,
    pub(super) prune: Text,
    pub(super) job: Text,
    pub(super) jobs: Text,
}

impl Statements {
    pub(super) fn new(names: &Names, path: &std::path::Path) -> Self {
        let fragments = Fragments::new();
        let fill = |sql: &str| Text::from(fault::statement(names.fill(&fragments.fill(sql))));
        Self {
            path: path.to_path_buf(),
            now: fill("SELECT {now}"),
            next_event: fill(claim::NEXT_EVENT),
            lanes: fill(claim::LANES),
            due: fill(claim::DUE),
            claim_due: fill(claim::CLAIM_DUE),
            expired: fill(claim::EXPIRED),
            take_expired: fill(claim::TAKE_EXPIRED),
            renew: fill(lease::RENEW),
            finish: fill(lease::FINISH),
            finish_away: fill(lease::FINISH_AWAY),
            release: fill(lease::RELEASE),
            guard: fill(lease::GUARD),
            abandon: fill(lease::ABANDON),
            next_fences: fill(named::NEXT_FENCES),
            acquire: fill(named::ACQUIRE),
            acquire_new: fill(named::ACQUIRE_NEW),
            look: fill(named::LOOK),
            stand: fill(named::STAND),
            leave: fill(named::LEAVE),
            prune_line: fill(named::PRUNE_LINE),
            put_back: fill(resources::PUT_BACK),
            park: fill(resources::PARK),
            assign: fill(resources::ASSIGN),
            unpark: fill(resources::UNPARK),
            unpark_names: fill(resources::UNPARK_NAMES),
            sweep: fill(resources::SWEEP),
            has_parked: fill(resources::HAS_PARKED),
            identity: fill("SELECT id FROM {s}{p}store"),
            identity_to_write: fill(jobs::IDENTITY_TO_WRITE),
            declare: fill(jobs::DECLARE),
            aliased: fill(jobs::ALIASED),
            realias: fill(jobs::REALIAS),
            alias: fill(jobs::ALIAS),
            unalias: fill(jobs::UNALIAS),
            lapsing: fill(jobs::LAPSING),
            rename_jobs: fill(jobs::RENAME_JOBS),
            rename_pause: fill(jobs::RENAME_PAUSE),
            drop_pause: fill(jobs::DROP_PAUSE),
            has_former: fill(jobs::HAS_FORMER),
            undeclared: fill(jobs::UNDECLARED),
            rename: fill(jobs::RENAME),
            drop_former: fill(jobs::DROP_FORMER),
            declared: fill(jobs::STANDING),
            redeclare: fill(jobs::REDECLARE),
            trigger_read: fill(jobs::TRIGGER_READ),
            trigger_write: fill(jobs::TRIGGER_WRITE),
            inspect: fill(&format!(
                "{} WHERE id IN (SELECT value FROM json_each(?1))",
                jobs::ROW
            )),
            standing: fill(&format!(
                "{} WHERE task = ?1 AND unique_key = '' AND state IN ('ready', 'running')",
                jobs::ROW
            )),
            enqueue: fill(jobs::ENQUEUE),
            enqueue_alike: fill(jobs::ENQUEUE_ALIKE),
            key_taken: fill(jobs::KEY_TAKEN),
            job_state: fill(jobs::JOB_STATE),
            cancel_waiting: fill(jobs::CANCEL_WAITING),
            cancel_running: fill(jobs::CANCEL_RUNNING),
            key_holder: fill(jobs::KEY_HOLDER),
            retry: fill(jobs::RETRY),
            pause: fill(jobs::PAUSE),
            resume: fill(jobs::RESUME),
            paused: fill(jobs::PAUSED),
            prunable: fill(jobs::PRUNABLE),
            prune: fill(jobs::PRUNE),
            job: fill(&jobs::job()),
            jobs: fill(&jobs::jobs()),
        }
    }
}
