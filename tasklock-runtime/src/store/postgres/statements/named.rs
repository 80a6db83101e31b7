//! Named leases.

/// $1 names, $2 owners, $3 ttls in µs, $4 workers. The common case of [`ACQUIRE`], for a fraction of its cost: rows that are
/// there and free, have no side row that would have to go, and that nobody waits for. It waits for nobody, and writes nothing
/// where it takes nothing.
pub(super) const ACQUIRE_FREE: &str = "
WITH k AS MATERIALIZED (
    SELECT j.id, o.* FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::bigint[]), (SELECT $4::text[]))
        AS o(name, owner, ttl, worker)
    CROSS JOIN LATERAL ({named} AND j.state = 'ready' AND {claimable}
        AND NOT EXISTS (SELECT FROM {s}{p}heartbeat h WHERE h.job_id = j.id)
        AND NOT EXISTS (SELECT FROM {s}{p}waiter w
            WHERE w.name = o.name AND w.alive_until > statement_timestamp()) FOR UPDATE SKIP LOCKED) j
)
UPDATE {s}{p}job j SET {acquired}
FROM k WHERE j.id = k.id
RETURNING j.id, j.unique_key AS name, j.fence, j.lock_owner AS owner,
    (SELECT set_config('synchronous_commit', 'local', true)
        WHERE current_setting('synchronous_commit') = 'off') AS lasting";

/// $1 names, $2 owners, $3 ttls in µs, $4 workers, $5 tickets. All but takeovers, in one statement: a row that is free, or a
/// new one, for who is first in the line (`f`); who gets none and has a ticket takes a place in it. Rows that somebody
/// has locked are stepped over. Answers for how long each is still held, or kept for another ticket, in µs, and whether
/// the latter. The last column is there for what it does: a lease that a crash of the server takes back would give its
/// fence out twice.
pub(super) const ACQUIRE: &str = "
WITH a AS MATERIALIZED (
    SELECT * FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::bigint[]), (SELECT $4::text[]),
        (SELECT $5::text[])) AS a(name, owner, ttl, worker, ticket)
), f AS MATERIALIZED (
    SELECT a.name, w.ticket, w.alive_until FROM a CROSS JOIN LATERAL ({first_in_line}) w
    WHERE a.ticket IS DISTINCT FROM w.ticket
), o AS MATERIALIZED (
    SELECT a.* FROM a WHERE NOT EXISTS (SELECT FROM f WHERE f.name = a.name)
), k AS MATERIALIZED (
    SELECT j.id, o.owner, o.ttl, o.worker
    FROM (SELECT o.*, ({named}) AS id FROM o) o JOIN {s}{p}job j ON j.id = o.id
    WHERE j.state = 'ready' AND {claimable} ORDER BY j.id FOR UPDATE OF j SKIP LOCKED
), c AS (
    UPDATE {s}{p}job j SET {acquired}
    FROM k WHERE j.id = k.id
    RETURNING j.id, j.unique_key AS name, j.fence, j.lock_owner AS owner
), {stray}, n AS (
    INSERT INTO {s}{p}job (task, unique_key, state, lock_owner, lock_worker, lock_until, fence, attempt,
        claimed_at)
    SELECT '{leases}', o.name, 'running', o.owner, o.worker,
        clock_timestamp() + o.ttl * interval '1 microsecond', nextval('{s}{p}lease_fence'), 1,
        clock_timestamp()
    FROM o
    WHERE ({named}) IS NULL
    ORDER BY o.name
    {taken} DO NOTHING
    RETURNING id, unique_key AS name, fence, lock_owner AS owner
), g AS MATERIALIZED (
    SELECT * FROM c UNION ALL SELECT * FROM n
), d AS (
    DELETE FROM {s}{p}waiter w USING a, g WHERE g.name = a.name AND w.ticket = a.ticket
), l AS (
    INSERT INTO {s}{p}waiter AS w (name, ticket, alive_until)
    SELECT a.name, a.ticket, clock_timestamp() + {patience} FROM a
    WHERE a.ticket IS NOT NULL AND NOT EXISTS (SELECT FROM g WHERE g.name = a.name)
    ON CONFLICT (ticket) DO UPDATE SET alive_until = excluded.alive_until
)
SELECT a.name, g.id, g.fence, g.owner, coalesce(
    (SELECT {until} - {now}
     FROM {s}{p}job j LEFT JOIN {s}{p}heartbeat h ON h.job_id = j.id AND h.fence = j.fence
     WHERE j.task = '{leases}' AND j.unique_key = a.name AND j.state = 'running'),
    {patient}) AS left_us, f.ticket IS NOT NULL AS ahead,
    (SELECT set_config('synchronous_commit', 'local', true)
     WHERE current_setting('synchronous_commit') = 'off') AS durable
FROM a LEFT JOIN g ON g.name = a.name LEFT JOIN f ON f.name = a.name";

/// $1 names. Those whose lease has expired, as far as this snapshot knows.
pub(super) const LOCK_EXPIRED_NAMES: &str = "
SELECT j.id FROM {s}{p}job j
WHERE j.task = '{leases}' AND j.unique_key = ANY($1::text[]) AND j.state = 'running'
  AND j.lock_until < statement_timestamp() AND {claimable}
  AND NOT EXISTS (SELECT FROM {s}{p}heartbeat h
      WHERE h.job_id = j.id AND h.fence = j.fence AND h.lock_until >= statement_timestamp())
ORDER BY j.id FOR UPDATE OF j SKIP LOCKED";

/// $1 names, $2 owners, $3 ttls in µs, $4 workers, $5 ids, which are locked: this look at the side rows decides.
pub(super) const TAKE_EXPIRED_NAMES: &str = "
WITH c AS (
UPDATE {s}{p}job j SET {acquired}
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS k(name, owner, ttl, worker)
WHERE j.unique_key = k.name AND j.task = '{leases}' AND j.id = ANY($5::bigint[])
  AND j.state = 'running' AND j.lock_until < statement_timestamp() AND {claimable}
  AND NOT EXISTS (SELECT FROM {s}{p}heartbeat h
      WHERE h.job_id = j.id AND h.fence = j.fence AND h.lock_until >= statement_timestamp())
RETURNING j.id, j.unique_key AS name, j.fence, j.lock_owner AS owner
), {stray} SELECT * FROM c";

/// $1 names. Those that nobody holds.
pub(super) const NAMES_FREE: &str = "
SELECT o.name FROM unnest((SELECT $1::text[])) AS o(name)
WHERE (SELECT k.state FROM {s}{p}job k WHERE k.id = ({named})) = 'ready'";

/// $1 tickets.
pub(super) const LEAVE: &str = "DELETE FROM {s}{p}waiter WHERE ticket = ANY($1::text[])";

/// Whoever has died long ago.
pub(super) const PRUNE_LINE: &str =
    "DELETE FROM {s}{p}waiter WHERE alive_until < clock_timestamp() - interval '1 minute'";
