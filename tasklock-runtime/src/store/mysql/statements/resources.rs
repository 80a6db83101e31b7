//! Resources: jobs that need a second lease, on a name.

/// ?1 ids, which this transaction has just claimed: nothing has run. What was to be cancelled is, then and there.
pub(super) const PUT_BACK: &str = "
UPDATE {ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
SET j.state = CASE WHEN {to_cancel} THEN 'cancelled' ELSE 'ready' END,
    j.prune_at = CASE WHEN {to_cancel} THEN {now} + {cancelled_keep} END,
    j.last_outcome = CASE WHEN {to_cancel} THEN 'cancelled' ELSE j.last_outcome END,
    j.finished_at = CASE WHEN {to_cancel} THEN {now} ELSE j.finished_at END,
    j.lock_owner = NULL, j.lock_worker = NULL, j.lock_until = NULL, j.attempt = GREATEST(j.attempt, 1) - 1, {park}";

/// One of a union: ?1 name, ?2 task, ?3 most. What is due and stands behind those that were put back.
pub(super) const BEHIND: &str = "
(SELECT j.id, j.due_for FROM {p}job j FORCE INDEX ({p}job_resource)
 WHERE j.due_for = ? AND j.task = ? AND j.due_at <= {now} AND {claimable} ORDER BY j.due_at LIMIT ?)";

/// ?1 ids and names.
pub(super) const LOCK_BEHIND: &str = "
SELECT j.id FROM {behind} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
WHERE j.due_for = e.name AND j.due_at <= {now} AND {claimable} FOR UPDATE SKIP LOCKED";

/// ?1 ids, which are locked.
pub(super) const PARK: &str = "
UPDATE {ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id SET {park}";

/// ?1 ids of named leases. Their names, if jobs are parked for them.
pub(super) const PARKED_FOR: &str = "
SELECT j.unique_key FROM {ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
WHERE j.task = '{leases}'
  AND (SELECT 1 FROM {p}job r FORCE INDEX ({p}job_parked) WHERE r.parked_for = j.unique_key LIMIT 1) IS NOT NULL";

/// ?1 name, ?2 most. For what the next jobs behind this name are parked.
pub(super) const NEXT_PARKED_FOR: &str = "
SELECT r.parked_for FROM {p}job r FORCE INDEX ({p}job_parked)
WHERE r.parked_for > ? ORDER BY r.parked_for LIMIT ?";

/// ?1 names. Those that nobody holds or waits for. Here and below a subquery that is asked row by row: NOT EXISTS may be made into
/// a table of all that there is.
pub(super) const UNUSED: &str = "
SELECT e.name FROM {names}
WHERE (SELECT 1 FROM {p}job l FORCE INDEX ({p}job_key)
        LEFT JOIN {p}heartbeat h ON h.job_id = l.id AND h.fence = l.fence
    WHERE l.task = '{leases}' AND l.live_key = e.name AND l.state = 'running'
      AND (l.lock_until >= {now} OR h.lock_until >= {now}) LIMIT 1) IS NULL
  AND (SELECT 1 FROM {p}waiter w FORCE INDEX ({p}waiter_name)
    WHERE w.name = e.name AND w.alive_until > {now} LIMIT 1) IS NULL";

/// ?1 names. The tasks that have jobs parked for each: a step of the index each, for a name.
pub(super) const FIRST_TASK: &str = "
SELECT e.name, (SELECT r.task FROM {p}job r FORCE INDEX ({p}job_parked)
    WHERE r.parked_for = e.name ORDER BY r.task LIMIT 1) AS task FROM {names}";

/// One of a union: ?1 name, ?2 task. The next one.
pub(super) const NEXT_TASK: &str = "
(SELECT r.parked_for AS name, r.task FROM {p}job r FORCE INDEX ({p}job_parked)
 WHERE r.parked_for = ? AND r.task > ? ORDER BY r.task LIMIT 1)";

/// ?1 names and tasks. Of each the first parked job, unless one of them is due already.
pub(super) const FIRST_PARKED: &str = "
SELECT (SELECT j.id FROM {p}job j FORCE INDEX ({p}job_parked)
    WHERE j.parked_for = e.name AND j.task = e.task AND {claimable} ORDER BY j.parked_rank LIMIT 1) AS id
FROM {pairs}
WHERE COALESCE((SELECT j.due_at FROM {p}job j FORCE INDEX ({p}job_resource)
    WHERE j.due_for = e.name AND j.task = e.task AND {claimable} ORDER BY j.due_at LIMIT 1) > {now}, TRUE)";

/// ?1 ids
pub(super) const LOCK_PARKED: &str = "
SELECT j.id FROM {ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
WHERE {parked} FOR UPDATE SKIP LOCKED";

/// ?1 ids, which are locked. In this order: an assignment sees those before it.
pub(super) const UNPARK: &str = "
UPDATE {ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
SET j.due_at = COALESCE(j.due_at, j.parked_due), j.parked_due = NULL, j.parked_rank = NULL";

/// ?1 name, ?2 id, ?3 fence, ?4 owner. A running row has no resource that its owner does not hold: whoever takes it over
/// inherits by the owner, who may have other rows of the same claim.
pub(super) const ASSIGN: &str = "
UPDATE {p}job SET resource = COALESCE(resource, ?), state = 'ready', lock_owner = NULL, lock_worker = NULL,
    lock_until = NULL, attempt = GREATEST(attempt, 1) - 1
WHERE id = ? AND fence = ? AND lock_owner = ? AND state = 'running'";
