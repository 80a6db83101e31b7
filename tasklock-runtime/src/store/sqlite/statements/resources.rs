//! Resources: jobs that need a second lease, on a name.

/// ?1 ids, which this transaction has just claimed: nothing has run. What was to be cancelled is, then and there.
pub(super) const PUT_BACK: &str = "
UPDATE {p}job SET state = CASE WHEN {to_cancel} THEN 'cancelled' ELSE 'ready' END,
    prune_at = CASE WHEN {to_cancel} THEN {now} + {cancelled_keep} END,
    last_outcome = CASE WHEN {to_cancel} THEN 'cancelled' ELSE last_outcome END,
    finished_at = CASE WHEN {to_cancel} THEN {now} ELSE finished_at END,
    lock_owner = NULL, lock_worker = NULL, lock_until = NULL, attempt = max(attempt - 1, 0), {park}
WHERE id IN (SELECT value FROM json_each(?1))";

/// ?1 names, ?2 most. What is due and stands behind those that were put back.
pub(super) const PARK: &str = "
UPDATE {p}job SET {park}
WHERE id IN (SELECT id FROM {p}job
    WHERE state = 'ready' AND due_at IS NOT NULL AND due_at <= {now}
      AND resource IN (SELECT value FROM json_each(?1)) AND {claimable} LIMIT ?2)";

/// ?1 ids of named leases that were given back.
pub(super) const UNPARK: &str = "
WITH RECURSIVE n (name) AS (
    SELECT unique_key FROM {p}job
    WHERE id IN (SELECT value FROM json_each(?1)) AND task = '{leases}'
), {unpark}";

/// ?1 names.
pub(super) const UNPARK_NAMES: &str = "
WITH RECURSIVE n (name) AS (SELECT value FROM json_each(?1)), {unpark}";

/// All resources that jobs are parked for: a step of the index each.
pub(super) const SWEEP: &str = "
WITH RECURSIVE n (name) AS (
    SELECT min(resource) FROM {p}job WHERE {parked}
    UNION ALL
    SELECT (SELECT min(resource) FROM {p}job WHERE {parked} AND resource > n.name)
    FROM n WHERE n.name IS NOT NULL
), {unpark}";

/// ?1 tasks. Whether a sweep may find something: it takes the write lock.
pub(super) const HAS_PARKED: &str = "
SELECT EXISTS (SELECT 1 FROM {p}job WHERE {parked}
    AND task IN (SELECT value ->> 0 FROM json_each(?1)))";

/// ?1 id, ?2 fence, ?3 owner, ?4 name. A running row has no resource that its owner does not hold: whoever takes it over
/// inherits by the owner, who may have other rows of the same claim.
pub(super) const ASSIGN: &str = "
UPDATE {p}job SET resource = coalesce(resource, ?4), state = 'ready',
    lock_owner = NULL, lock_worker = NULL, lock_until = NULL, attempt = max(attempt - 1, 0)
WHERE id = ?1 AND fence = ?2 AND lock_owner = ?3 AND state = 'running'";
