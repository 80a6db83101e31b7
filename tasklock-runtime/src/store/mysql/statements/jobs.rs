//! Jobs as an application and its operators see them.

/// Which store this is, and how far apart two ids are.
pub(super) const IDENTITY: &str = "SELECT id, @@auto_increment_increment AS step FROM {p}store";

/// ?1 and ?2 task
pub(super) const STANDING_OF: &str = "
SELECT j.id FROM {p}job j FORCE INDEX ({p}job_standing) WHERE j.standing_of = {present} ORDER BY j.id LIMIT 1";

/// ?1 id. A running job is not waited for: a guarded transaction may hold its row for long.
pub(super) const TRIGGER_READ: &str = "
SELECT j.state = 'ready' AS waits, j.parked_due IS NOT NULL OR COALESCE(j.due_at <= {now}, FALSE) AS due
FROM {p}job j WHERE j.id = ?";

/// ?1 id, which is locked.
pub(super) const TRIGGER: &str =
    "UPDATE {p}job SET due_at = GREATEST({now}, COALESCE(hold_until, 0)) WHERE id = ?";

/// The side row of a run that a transaction of the application's has ended stays for a while.
pub(super) const ROW: &str = "
SELECT j.id, j.task, j.state = 'running' AS running, j.lock_owner AS owner, j.fence, j.attempt, j.crashes,
    j.last_outcome, j.last_error, {to_cancel} AS to_cancel, {due} AS due_at, {slot} AS slot_at, {until} - {now} AS left_us
FROM {from}
LEFT JOIN {p}heartbeat h ON h.job_id = j.id AND h.fence = j.fence AND j.state = 'running'";

/// So many times in one statement. In the order of the call, so that ids ascend in it.
pub(super) const NEW_ROW: &str = "(?, ?, ?, ?, COALESCE(?, {now} + ?), ?, {now})";

pub(super) const ENQUEUE: &str = "
INSERT INTO {p}job (task, payload, priority, unique_key, due_at, resource, created_at) VALUES ";

/// Nothing is written for a key that is taken.
pub(super) const ENQUEUE_KEYED: &str = "
INSERT IGNORE INTO {p}job (task, payload, priority, unique_key, due_at, resource, created_at) VALUES ";

/// ?1 keys and tasks. Who has them, also in a transaction whose snapshot does not show it.
pub(super) const KEY_TAKEN: &str = "
SELECT j.id, j.task, j.unique_key FROM {pairs} STRAIGHT_JOIN {p}job j FORCE INDEX ({p}job_key)
    ON j.task = e.task AND j.live_key = e.name";

/// A look that locks nothing, whatever the transaction's level; behind the second one stand a task and a key.
pub(super) const PEEK_OPEN: &str = "HANDLER {p}job OPEN AS tasklock_peek";
pub(super) const PEEK_READ: &str = "HANDLER tasklock_peek READ {p}job_key =";

/// ?1 ids. Those that still have their keys, and keep them until the transaction ends. The rows alone are locked: a lock in the
/// index of the keys would be one of the gap before the key, too, in which others write.
pub(super) const KEY_KEPT: &str = "
SELECT j.id, j.task, j.unique_key FROM {ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
WHERE j.state IN ('ready', 'running') LOCK IN SHARE MODE";

/// ?1 id. To lock it is to wait for a guarded transaction to end, for it may end the job.
pub(super) const READ_JOB: &str = "
SELECT j.state, j.unique_key <=> '' AS standing, j.parked_due IS NOT NULL OR COALESCE(j.due_at <= {now}, FALSE) AS due
FROM {p}job j WHERE j.id = ? AND j.task <> '{leases}'";

/// ?1 id. In this order: an assignment sees those before it.
pub(super) const CANCEL_WAITING: &str = "
UPDATE {p}job SET state = 'cancelled', cancelled_at = {now}, finished_at = {now}, last_outcome = 'cancelled',
    due_at = COALESCE(due_at, parked_due), parked_due = NULL, parked_rank = NULL,
    prune_at = GREATEST({now} + {cancelled_keep}, COALESCE(hold_until, 0))
WHERE id = ?";

/// ?1 id. The run is told by its next heartbeat, which is not confirmed.
pub(super) const CANCEL_RUNNING: &str =
    "UPDATE {p}job SET cancelled_at = COALESCE(cancelled_at, {now}) WHERE id = ?";

/// ?1 id, ?2 id. The other job that has the key.
pub(super) const KEY_HOLDER: &str = "
SELECT o.id FROM {p}job j JOIN {p}job o FORCE INDEX ({p}job_key) ON o.task = j.task AND o.live_key = j.unique_key
WHERE j.id = ? AND o.id <> ?";

/// ?1 id. In this order: an assignment sees those before it.
pub(super) const RETRY: &str = "
UPDATE {p}job SET due_at = GREATEST({now}, COALESCE(hold_until, 0)),
    attempt = CASE state WHEN 'ready' THEN attempt ELSE 0 END,
    crashes = CASE state WHEN 'ready' THEN crashes ELSE 0 END,
    refusals = CASE state WHEN 'ready' THEN refusals ELSE 0 END,
    cancelled_at = NULL, prune_at = NULL, state = 'ready'
WHERE id = ?";

/// ?1 kind, ?2 name
pub(super) const PAUSE: &str =
    "INSERT IGNORE INTO {p}pause (kind, name, paused_at) VALUES (?, ?, {now})";

/// ?1 kind, ?2 name
pub(super) const RESUME: &str = "DELETE FROM {p}pause WHERE kind = ? AND name = ?";

pub(super) const PAUSED: &str = "SELECT kind, name FROM {p}pause ORDER BY kind, name";

/// ?1 most
pub(super) const LOCK_PRUNABLE: &str = "
SELECT j.id FROM {p}job j FORCE INDEX ({p}job_ended)
WHERE j.prune_at <= {now} AND (j.state IN ('done', 'dead', 'cancelled') OR (j.state = 'ready' AND j.task = '{leases}'))
ORDER BY j.prune_at LIMIT ? FOR UPDATE SKIP LOCKED";

/// ?1 most. Side rows of runs that are over: a renewal may commit just after its end.
pub(super) const STRAY_BEATS: &str = "
SELECT h.job_id FROM {p}heartbeat h LEFT JOIN {p}job j ON j.id = h.job_id AND j.fence = h.fence AND j.state = 'running'
WHERE j.id IS NULL AND h.lock_until < {now} LIMIT ?";

/// ?1 ids. The side rows alone: whoever renews writes them, and holds them for no longer than that.
pub(super) const LOCK_STRAYS: &str = "
SELECT h.job_id FROM {ids} STRAIGHT_JOIN {p}heartbeat h FORCE INDEX (PRIMARY) ON h.job_id = e.id
WHERE h.lock_until < {now} FOR UPDATE SKIP LOCKED";

const JOB: &str = "
SELECT j.id, j.task, j.state, j.payload, j.priority, NULLIF(j.unique_key, '') AS unique_key, j.resource,
    j.unique_key <=> '' AS standing, j.attempt, j.crashes, j.refusals, j.fence, j.lock_worker AS worker,
    j.last_outcome, j.last_error, h.progress_done, h.progress_total, {waits} AS due_at, {slot} AS slot_at, j.missed, j.skipped,
    CASE WHEN j.unique_key = '' THEN j.schedule END AS schedule, {until} AS lock_until, {claimed_at} AS claimed_at,
    {finished_at} AS finished_at, {created_at} AS created_at, {cancelled_at} AS cancelled_at
FROM {p}job j FORCE INDEX ({index})
LEFT JOIN {p}heartbeat h ON h.job_id = j.id AND h.fence = j.fence AND j.state = 'running'";

/// ?1 id
pub(super) fn job() -> String {
    let job = JOB.replace("{index}", "PRIMARY");
    format!("{job} WHERE j.id = ? AND j.task <> '{{leases}}'")
}

/// ?1 before this id, ?2 states as a list, then what `which` has, and the most. Not one text for every question: its plan would
/// serve one of them. But for those that run, the index is walked from the newest job to older ones, until enough were met.
pub(super) fn jobs(index: &str, which: &str) -> String {
    let jobs = JOB.replace("{index}", index);
    format!(
        "{jobs} WHERE j.id < ? AND FIND_IN_SET(j.state, ?) AND j.task <> '{{leases}}' {which}
ORDER BY j.id DESC LIMIT ?"
    )
}
