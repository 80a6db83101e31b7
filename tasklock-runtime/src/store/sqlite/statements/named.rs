//! Named leases: a statement for one name each, all in one `BEGIN IMMEDIATE`.

/// The next fence.
pub(super) const NEXT_FENCE: &str = "UPDATE {p}lease_fence SET last = last + 1 RETURNING last";

/// ?1 name, ?2 owner, ?3 ttl in µs, ?4 worker, ?5 fence, ?6 owner of before. Free, or expired; or the second lease of a
/// run whose first one has just been taken over from that owner.
pub(super) const ACQUIRE: &str = "
UPDATE {p}job SET state = 'running', lock_owner = ?2, lock_worker = ?4, lock_until = {now} + ?3,
    fence = max(fence + 1, ?5), attempt = 1, crashes = 0, claimed_at = {now}, cancelled_at = NULL,
    prune_at = NULL, {unsaid}
WHERE task = '{leases}' AND unique_key = ?1 AND {claimable}
  AND (state = 'ready' OR (state = 'running' AND (lock_until < {now} OR lock_owner = ?6)))
RETURNING id, fence";

/// As above. Nothing if it is there.
pub(super) const ACQUIRE_NEW: &str = "
INSERT INTO {p}job (task, unique_key, state, lock_owner, lock_worker, lock_until, fence, attempt,
    claimed_at, created_at)
SELECT '{leases}', ?1, 'running', ?2, ?4, {now} + ?3, ?5, 1, {now}, {now}
WHERE NOT EXISTS (SELECT 1 FROM {p}job WHERE task = '{leases}' AND unique_key = ?1
    AND state IN ('ready', 'running'))
RETURNING id, fence";

/// ?1 name, ?2 owner of before. How long it is still held, in µs, and whether by that one.
pub(super) const HELD: &str = "
SELECT {until} - {now}, coalesce(lock_owner = ?2, false) FROM {p}job
WHERE task = '{leases}' AND unique_key = ?1 AND state = 'running'";

/// ?1 name, ?2 ticket or NULL. Who is first in the line, how long that place lasts, and how long our own.
pub(super) const LINE: &str = "
SELECT w.ticket, w.alive_until - {now},
    (SELECT o.alive_until - {now} FROM {p}waiter o WHERE o.ticket = ?2)
FROM {p}waiter w WHERE w.name = ?1 AND w.alive_until > {now} ORDER BY w.id LIMIT 1";

/// ?1 name, ?2 ticket, ?3 how long in µs
pub(super) const STAND: &str = "
INSERT INTO {p}waiter (name, ticket, alive_until) VALUES (?1, ?2, {now} + ?3)
ON CONFLICT (ticket) DO UPDATE SET alive_until = excluded.alive_until";

/// ?1 ticket
pub(super) const LEAVE: &str = "DELETE FROM {p}waiter WHERE ticket = ?1";

/// Whoever has died long ago.
pub(super) const PRUNE_LINE: &str = "DELETE FROM {p}waiter WHERE alive_until < {now} - 60000000";
