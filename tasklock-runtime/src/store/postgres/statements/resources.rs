//! Resources: jobs that need a second lease, on a name.

/// $1 names, $2 owners, $3 ttls in µs, $4 workers, $5 owners of before. The second leases of runs whose first one has
/// just been taken over.
pub(super) const INHERIT: &str = "
WITH k AS MATERIALIZED (
    SELECT j.id, a.owner, a.ttl, a.worker
    FROM (SELECT o.*, ({named}) AS id
        FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[])
            AS o(name, owner, ttl, worker, before)) a
    JOIN {s}{p}job j ON j.id = a.id
    WHERE j.state = 'running' AND j.lock_owner = a.before AND {claimable}
    ORDER BY j.id FOR UPDATE OF j SKIP LOCKED
), c AS (
UPDATE {s}{p}job j SET {acquired}
FROM k WHERE j.id = k.id
RETURNING j.id, j.unique_key AS name, j.fence, j.lock_owner AS owner
), {stray} SELECT * FROM c";

/// $1 ids, which this transaction has just claimed: nothing has run. What was to be cancelled is, then and there.
pub(super) const PUT_BACK: &str = "
UPDATE {s}{p}job j SET state = CASE WHEN {to_cancel} THEN 'cancelled' ELSE 'ready' END,
    prune_at = CASE WHEN {to_cancel} THEN clock_timestamp() + {cancelled_keep} END,
    last_outcome = CASE WHEN {to_cancel} THEN 'cancelled' ELSE j.last_outcome END,
    finished_at = CASE WHEN {to_cancel} THEN clock_timestamp() ELSE j.finished_at END,
    lock_owner = NULL, lock_worker = NULL, lock_until = NULL,
    attempt = greatest(j.attempt, 1) - 1, {park}
WHERE j.id = ANY($1::bigint[])";

/// $1 names, $2 most. What is due and stands behind those that were put back.
pub(super) const PARK: &str = "
WITH k AS (
    SELECT j.id FROM {s}{p}job j
    WHERE j.state = 'ready' AND j.resource = ANY($1::text[]) AND j.due_at <= statement_timestamp()
      AND {claimable}
    LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE {s}{p}job j SET {park} FROM k WHERE j.id = k.id";

/// $1 ids of named leases that were given back, $2 channel of names, $3 channel of work. What is parked for them falls
/// due; who is first in the line is told, or else the name is.
pub(super) const FREE: &str = "
WITH RECURSIVE n(name) AS (
    SELECT j.unique_key FROM {s}{p}job j WHERE j.id = ANY($1::bigint[]) AND j.task = '{leases}'
), {unpark}, {told}";

/// $1 ids of named leases. Those of them that jobs are parked for, or that somebody waits for.
pub(super) const AWAITED: &str = "
SELECT l.id FROM {s}{p}job l WHERE l.id = ANY((SELECT $1::bigint[])::bigint[]) AND l.task = '{leases}'
  AND (EXISTS (SELECT FROM {s}{p}job j WHERE {parked} AND j.resource = l.unique_key)
    OR EXISTS (SELECT FROM {s}{p}waiter w
        WHERE w.name = l.unique_key AND w.alive_until > statement_timestamp()))";

/// $1 names, $2 and $3 as above.
pub(super) const FREE_NAMES: &str = "
WITH RECURSIVE n(name) AS (SELECT unnest($1::text[])), {unpark}, {told}";

/// All resources that jobs are parked for: a step of the index each.
pub(super) const SWEEP: &str = "
WITH RECURSIVE n(name) AS (
    (SELECT j.resource FROM {s}{p}job j WHERE {parked} ORDER BY j.resource LIMIT 1)
    UNION ALL
    SELECT (SELECT j.resource FROM {s}{p}job j WHERE {parked} AND j.resource > n.name
        ORDER BY j.resource LIMIT 1) FROM n WHERE n.name IS NOT NULL
), {unpark} SELECT count(*) FROM u";

/// $1 names. Of those that a claim has found busy.
pub(super) const UNPARK: &str = "
WITH RECURSIVE n(name) AS (SELECT unnest($1::text[])), {unpark} SELECT count(*) FROM u";

/// $1 id, $2 fence, $3 owner, $4 name. A running row has no resource that its owner does not hold: whoever takes it over
/// inherits by the owner, who may have other rows of the same claim.
pub(super) const ASSIGN: &str = "
UPDATE {s}{p}job SET resource = coalesce(resource, $4), state = 'ready',
    lock_owner = NULL, lock_worker = NULL, lock_until = NULL, attempt = greatest(attempt, 1) - 1
WHERE id = $1 AND fence = $2 AND lock_owner = $3 AND state = 'running'";
