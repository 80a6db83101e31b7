//! Named leases.

/// $1 names, $2 owners, $3 ttls in µs, $4 worker. Free ones.
pub(super) const ACQUIRE_FREE: &str = "
WITH k AS MATERIALIZED (
    SELECT j.id, a.owner, a.ttl
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS a(name, owner, ttl)
    JOIN {s}{p}job j ON j.task = '{leases}' AND j.unique_key = a.name
    WHERE j.state = 'ready' AND {claimable} ORDER BY j.id FOR UPDATE OF j SKIP LOCKED
), c AS (
UPDATE {s}{p}job j SET {acquired}
FROM k WHERE j.id = k.id
RETURNING j.id, j.unique_key AS name, j.fence, j.lock_owner AS owner
), {stray} SELECT * FROM c";

/// As above. Those that have no row yet; asked first, for a conflict would use an id up.
pub(super) const ACQUIRE_NEW: &str = "
INSERT INTO {s}{p}job (task, unique_key, state, lock_owner, lock_worker, lock_until, fence, attempt,
    claimed_at)
SELECT '{leases}', a.name, 'running', a.owner, $4,
    clock_timestamp() + a.ttl * interval '1 microsecond', nextval('{s}{p}lease_fence'), 1,
    clock_timestamp()
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS a(name, owner, ttl)
WHERE NOT EXISTS (SELECT FROM {s}{p}job o WHERE o.task = '{leases}' AND o.unique_key = a.name
    AND o.state IN ('ready', 'running'))
ORDER BY a.name
{taken} DO NOTHING
RETURNING id, unique_key AS name, fence, lock_owner AS owner";

/// $1 names. Those whose lease has expired, as far as this snapshot knows.
pub(super) const LOCK_EXPIRED_NAMES: &str = "
SELECT j.id FROM {s}{p}job j
WHERE j.task = '{leases}' AND j.unique_key = ANY($1::text[]) AND j.state = 'running'
  AND j.lock_until < statement_timestamp() AND {claimable}
  AND NOT EXISTS (SELECT FROM {s}{p}heartbeat h
      WHERE h.job_id = j.id AND h.fence = j.fence AND h.lock_until >= statement_timestamp())
ORDER BY j.id FOR UPDATE OF j SKIP LOCKED";

/// $1 names, $2 owners, $3 ttls in µs, $4 worker, $5 ids, which are locked: this look at the side rows decides.
pub(super) const TAKE_EXPIRED_NAMES: &str = "
WITH c AS (
UPDATE {s}{p}job j SET {acquired}
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS k(name, owner, ttl)
WHERE j.unique_key = k.name AND j.task = '{leases}' AND j.id = ANY($5::bigint[])
  AND j.state = 'running' AND j.lock_until < statement_timestamp() AND {claimable}
  AND NOT EXISTS (SELECT FROM {s}{p}heartbeat h
      WHERE h.job_id = j.id AND h.fence = j.fence AND h.lock_until >= statement_timestamp())
RETURNING j.id, j.unique_key AS name, j.fence, j.lock_owner AS owner
), {stray} SELECT * FROM c";

/// $1 names. How long each is still held, in µs.
pub(super) const HELD: &str = "
SELECT j.unique_key AS name, {until} - {now} AS left_us
FROM {s}{p}job j LEFT JOIN {s}{p}heartbeat h ON h.job_id = j.id AND h.fence = j.fence
WHERE j.task = '{leases}' AND j.unique_key = ANY($1::text[]) AND j.state = 'running'";
