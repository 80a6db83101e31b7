//! The statements, written for MariaDB 10.6 and MySQL 8. Each index is named: InnoDB's figures are a guess, and a plan that was
//! good for few rows reads all of many.

mod claim;
mod jobs;
mod lease;
mod named;
mod resources;
mod schedules;

pub(super) use claim::{RENEWED_EACH, RENEWED_OF, THE_FIRST};
pub(super) use schedules::FORMER_PARTS;

use super::Server;
use super::fragments::Fragments;
use crate::fault;
use crate::store::schema::Names;
use crate::store::sql::Text;

const NOW: &str = "SELECT {now}";

/// Whatever the server's default.
pub(super) const BEGIN: &str = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION";

/// ?1 name, ?2 fence; in a foreign database. An equal fence is written too, and a smaller one locks the row.
pub(super) const REGISTER_FENCE: &str = "
INSERT INTO tasklock_fence (name, fence, updated_at) VALUES (?, ?, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE fence = GREATEST(tasklock_fence.fence, VALUES(fence)), updated_at = VALUES(updated_at)";

/// ?1 name
pub(super) const REGISTERED_FENCE: &str =
    "SELECT fence FROM tasklock_fence WHERE name = ? LOCK IN SHARE MODE";

/// So many values at most stand in one list: of a thousand MariaDB makes a table, which bounds no range.
pub(super) const LIST: usize = 500;

/// A list of so many parameters.
pub(super) fn list(length: usize) -> String {
    format!("({})", vec!["?"; length].join(", "))
}

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident: $text:expr,)+) => {
        /// The statements with the tables' names in place.
        #[derive(Debug)]
        pub(super) struct Statements {
            pub(super) server: Server,
            $(pub(super) $name: Text,)+
        }

        impl Statements {
            pub(super) fn new(names: &Names, server: Server) -> Self {
                let fragments = Fragments::new(server);
                let fill = |sql: &str| {
                    let sql = sql.replace("{claimed}", claim::CLAIMED);
                    Text::from(fault::statement(names.fill(&fragments.fill(&sql))))
                };
                Self { server, $($name: fill(&$text),)+ }
            }
        }
    };
}

statements! {
    now: NOW,
    tasks: claim::TASKS,
    holds: claim::HOLDS,
    renewed: claim::RENEWED,
    next_lane: claim::NEXT_LANE,
    lane_due: claim::LANE_DUE,
    seen: claim::SEEN,
    lock_due: claim::LOCK_DUE,
    expired: claim::EXPIRED,
    lock_expired: claim::LOCK_EXPIRED,
    beats: claim::BEATS,
    claim: claim::CLAIM,
    take_over: claim::TAKE_OVER,
    drop_beats: claim::DROP_BEATS,
    lock_limited: claim::LOCK_LIMITED,
    known_limited: claim::KNOWN_LIMITED,
    know_limited: claim::KNOW_LIMITED,
    lock_to_renew: lease::LOCK_TO_RENEW,
    renew: lease::RENEW,
    lock_held: lease::LOCK_HELD,
    lock_ends: format!("{} SKIP LOCKED", lease::LOCK_ENDS),
    guard_to_complete: lease::LOCK_ENDS,
    write_ends: lease::WRITE_ENDS,
    drop_jobs: lease::DROP_JOBS,
    release: lease::RELEASE,
    guard: lease::GUARD,
    by_token: lease::BY_TOKEN,
    look: named::LOOK,
    lock_names: named::LOCK_NAMES,
    acquire: named::ACQUIRE,
    acquire_new: named::ACQUIRE_NEW,
    new_name: named::NEW_NAME,
    acquired: named::ACQUIRED,
    next_fences: named::NEXT_FENCES,
    spent_fences: named::SPENT_FENCES,
    stand: named::STAND,
    leave: named::LEAVE,
    names_free: named::NAMES_FREE,
    long_dead: named::LONG_DEAD,
    prune_line: named::PRUNE_LINE,
    put_back: resources::PUT_BACK,
    behind: resources::BEHIND,
    lock_behind: resources::LOCK_BEHIND,
    park: resources::PARK,
    parked_for: resources::PARKED_FOR,
    next_parked_for: resources::NEXT_PARKED_FOR,
    unused: resources::UNUSED,
    first_task: resources::FIRST_TASK,
    next_task: resources::NEXT_TASK,
    first_parked: resources::FIRST_PARKED,
    lock_parked: resources::LOCK_PARKED,
    unpark: resources::UNPARK,
    assign: resources::ASSIGN,
    identity: jobs::IDENTITY,
    lock_starts: schedules::LOCK_STARTS,
    declared: schedules::STANDING,
    declared_locked: format!("{} FOR UPDATE", schedules::STANDING),
    declare: schedules::DECLARE,
    redeclare: schedules::REDECLARE,
    undeclared: schedules::UNDECLARED,
    aliased: schedules::ALIASED,
    realias: schedules::REALIAS,
    alias: schedules::ALIAS,
    unalias: schedules::UNALIAS,
    lapsing: schedules::LAPSING,
    left_over: schedules::LEFT_OVER,
    former: schedules::former(),
    lock_former: schedules::LOCK_FORMER,
    rename_jobs: schedules::RENAME_JOBS,
    rename_pause: schedules::RENAME_PAUSE,
    drop_pause: schedules::DROP_PAUSE,
    rename: schedules::RENAME,
    drop_former: schedules::DROP_FORMER,
    standing_of: jobs::STANDING_OF,
    trigger_read: jobs::TRIGGER_READ,
    trigger_lock: format!("{} FOR UPDATE", jobs::TRIGGER_READ),
    trigger: jobs::TRIGGER,
    inspect: jobs::ROW.replace(
        "{from}",
        "{ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id"
    ),
    standing: format!(
        "{} WHERE j.standing_of = ? ORDER BY j.id LIMIT 1",
        jobs::ROW.replace("{from}", "{p}job j FORCE INDEX ({p}job_standing)")
    ),
    new_row: jobs::NEW_ROW,
    enqueue: jobs::ENQUEUE,
    enqueue_keyed: jobs::ENQUEUE_KEYED,
    key_taken: jobs::KEY_TAKEN,
    peek_open: jobs::PEEK_OPEN,
    peek_read: jobs::PEEK_READ,
    key_kept: jobs::KEY_KEPT,
    key_taken_now: format!("{} LOCK IN SHARE MODE", jobs::KEY_TAKEN),
    lock_job: format!("{} FOR UPDATE", jobs::READ_JOB),
    read_job: jobs::READ_JOB,
    cancel_waiting: jobs::CANCEL_WAITING,
    cancel_running: jobs::CANCEL_RUNNING,
    key_holder: jobs::KEY_HOLDER,
    retry: jobs::RETRY,
    pause: jobs::PAUSE,
    resume: jobs::RESUME,
    paused: jobs::PAUSED,
    lock_prunable: jobs::LOCK_PRUNABLE,
    stray_beats: jobs::STRAY_BEATS,
    lock_strays: jobs::LOCK_STRAYS,
    job: jobs::job(),
    jobs: jobs::jobs("PRIMARY", ""),
    jobs_of_task: jobs::jobs("{p}job_task", "AND j.task = ?"),
    running_jobs: jobs::jobs("{p}job_running", "AND j.running_of IS NOT NULL"),
    running_jobs_of_task: jobs::jobs("{p}job_running", "AND j.running_of = ?"),
}
