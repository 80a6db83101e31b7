//! Named leases.

/// ?1 names. Of each: its row, for how long it is held, and who is first in the line, for how long.
pub(super) const LOOK: &str = "
SELECT e.name, j.id, j.state,
    (SELECT {until} FROM {p}job k LEFT JOIN {p}heartbeat h ON h.job_id = k.id AND h.fence = k.fence WHERE k.id = j.id) - {now}
        AS held,
    w.ticket, w.alive_until - {now} AS patient
FROM {names}
LEFT JOIN {p}job j FORCE INDEX ({p}job_key) ON j.task = '{leases}' AND j.live_key = e.name
LEFT JOIN {p}waiter w ON w.id = (SELECT f.id FROM {p}waiter f FORCE INDEX ({p}waiter_name)
    WHERE f.name = e.name AND f.alive_until > {now} ORDER BY f.id LIMIT 1)";

/// ?1 ids. Rows that are free, or have expired by themselves, or were held by somebody whose run was taken over just now.
pub(super) const LOCK_NAMES: &str = "
SELECT j.id, j.unique_key AS name, j.state, j.fence, j.lock_owner AS owner, j.lock_until < {now} AS expired,
    (SELECT h.fence FROM {p}heartbeat h WHERE h.job_id = j.id) AS beat
FROM {ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
WHERE j.task = '{leases}' AND j.state IN ('ready', 'running') AND {claimable} FOR UPDATE SKIP LOCKED";

/// And so many times `(NULL)`. The numbers that follow.
pub(super) const NEXT_FENCES: &str = "INSERT INTO {p}lease_fence VALUES ";

/// ?1 places among the numbers that were drawn last, from 0 on.
pub(super) const SPENT_FENCES: &str = "
DELETE f FROM {ids} STRAIGHT_JOIN {p}lease_fence f FORCE INDEX (PRIMARY)
    ON f.id = LAST_INSERT_ID() + e.id * @@auto_increment_increment";

/// ?1 [[id, owner, worker, ttl in µs, fence, name], …]
pub(super) const ACQUIRE: &str = "
UPDATE {acquires} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
SET j.state = 'running', j.lock_owner = e.owner, j.lock_worker = e.worker, j.lock_until = {now} + e.ttl,
    j.fence = e.fence, j.attempt = 1, j.crashes = 0, j.claimed_at = {now}, j.cancelled_at = NULL, j.prune_at = NULL";

/// And so many new names, of which nothing is written where another one has just made it.
pub(super) const ACQUIRE_NEW: &str = "
INSERT IGNORE INTO {p}job (task, unique_key, state, lock_owner, lock_worker, lock_until, fence, attempt, claimed_at, created_at)
VALUES ";

/// So many times in one statement: name, owner, worker, ttl in µs, fence.
pub(super) const NEW_NAME: &str = "('{leases}', ?, 'running', ?, ?, {now} + ?, ?, 1, {now}, {now})";

/// ?1 as for `ACQUIRE`. What was written of it: an owner is fresh for each acquisition.
pub(super) const ACQUIRED: &str = "
SELECT j.id, j.unique_key AS name, j.fence FROM {acquires} STRAIGHT_JOIN {p}job j FORCE INDEX ({p}job_key)
    ON j.task = '{leases}' AND j.live_key = e.name AND j.lock_owner = e.owner";

/// ?1 name, ?2 ticket, ?3 how long in µs
pub(super) const STAND: &str = "
INSERT INTO {p}waiter (name, ticket, alive_until) VALUES (?, ?, {now} + ?)
ON DUPLICATE KEY UPDATE alive_until = VALUES(alive_until)";

/// ?1 ticket
pub(super) const LEAVE: &str = "DELETE FROM {p}waiter WHERE ticket = ?";

/// ?1 names. Those that nobody holds.
pub(super) const NAMES_FREE: &str = "
SELECT e.name FROM {names} LEFT JOIN {p}job j FORCE INDEX ({p}job_key) ON j.task = '{leases}' AND j.live_key = e.name
WHERE j.id IS NULL OR j.state = 'ready'";

/// Whoever has died long ago.
pub(super) const LONG_DEAD: &str =
    "SELECT w.id FROM {p}waiter w WHERE w.alive_until < {now} - 60000000 LIMIT 1000";

/// ?1 ids
pub(super) const PRUNE_LINE: &str = "
DELETE w FROM {ids} STRAIGHT_JOIN {p}waiter w FORCE INDEX (PRIMARY) ON w.id = e.id
WHERE w.alive_until < {now} - 60000000";
