//! Named leases: a statement for all names of a call, all in one `BEGIN IMMEDIATE`.

/// ?1 how many. The last of the next fences.
pub(super) const NEXT_FENCES: &str = "UPDATE {p}lease_fence SET last = last + ?1 RETURNING last";

/// ?1 [[name, owner, ttl in µs, fence, ticket, owner of before, worker], …]. Free, or expired; or the second lease of a
/// run whose first one has just been taken over from that owner. Nobody is ahead in the line. (Joined by the
/// name itself, all rows that are leases would be read.)
pub(super) const ACQUIRE: &str = "
UPDATE {p}job SET state = 'running', lock_owner = e.owner, lock_worker = e.worker, lock_until = {now} + e.ttl,
    fence = max(fence + 1, e.next), attempt = 1, crashes = 0, claimed_at = {now}, cancelled_at = NULL,
    prune_at = NULL, {unsaid}
FROM {acquires} AS e
WHERE id = (SELECT j.id FROM {p}job j
        WHERE j.task = '{leases}' AND j.unique_key = e.name AND j.state IN ('ready', 'running'))
  AND {claimable}
  AND (state = 'ready' OR lock_until < {now} OR lock_owner = e.before) AND {first_in_line}
RETURNING id, fence, unique_key";

/// As above. Nothing of what is there.
pub(super) const ACQUIRE_NEW: &str = "
INSERT INTO {p}job (task, unique_key, state, lock_owner, lock_worker, lock_until, fence, attempt,
    claimed_at, created_at)
SELECT '{leases}', e.name, 'running', e.owner, e.worker, {now} + e.ttl, e.next, 1, {now}, {now}
FROM {acquires} AS e
WHERE {first_in_line} AND NOT EXISTS (SELECT 1 FROM {p}job
    WHERE task = '{leases}' AND unique_key = e.name AND state IN ('ready', 'running'))
RETURNING id, fence, unique_key";

/// ?1 as above. For how long each name is still held, in µs; who is first in the line, how long that place lasts, and how
/// long our own.
pub(super) const LOOK: &str = "
WITH l AS MATERIALIZED (
    SELECT e.name, (SELECT {until} - {now} FROM {p}job WHERE task = '{leases}' AND unique_key = e.name
            AND state IN ('ready', 'running') AND +state = 'running') AS held,
        (SELECT w.id FROM {p}waiter w WHERE w.name = e.name AND w.alive_until > {now}
            ORDER BY w.id LIMIT 1) AS first,
        (SELECT o.alive_until - {now} FROM {p}waiter o WHERE o.ticket = e.ticket) AS place
    FROM {acquires} AS e
)
SELECT l.name, l.held, f.ticket, f.alive_until - {now}, l.place
FROM l LEFT JOIN {p}waiter f ON f.id = l.first";

/// ?1 [[name, ticket], …], ?2 how long in µs
pub(super) const STAND: &str = "
INSERT INTO {p}waiter (name, ticket, alive_until)
SELECT value ->> 0, value ->> 1, {now} + ?2 FROM json_each(?1) WHERE true
ON CONFLICT (ticket) DO UPDATE SET alive_until = excluded.alive_until";

/// ?1 tickets
pub(super) const LEAVE: &str =
    "DELETE FROM {p}waiter WHERE ticket IN (SELECT value FROM json_each(?1))";

/// Whoever has died long ago.
pub(super) const PRUNE_LINE: &str = "DELETE FROM {p}waiter WHERE alive_until < {now} - 60000000";
