//! What is done under a lease, and how it ends.
//!
//! A row that was just locked is written by its place in the table (`ctid`): to look it up once more costs as much as to lock
//! it. Where somebody has written the row since the statement began, its place is one that the statement does not see: the
//! row is left alone, as one that is locked is, and the caller tries again.

/// $1 ids, $2 fences, $3 owners, $4 ttls in µs, $5 done, $6 of how much in all; NULL leaves what was told of
/// this run before. KEY SHARE excludes takeover, finish and release, which
/// all lock FOR UPDATE first, and skips a row that one of them has.
/// A run that is to be cancelled is not renewed, and learns so.
pub(super) const RENEW: &str = "
WITH e AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
        AS e(id, fence, owner, ttl, done, total) ORDER BY e.id
), k AS MATERIALIZED (
    SELECT e.* FROM e CROSS JOIN LATERAL (SELECT FROM {s}{p}job j
        WHERE j.id = e.id AND j.fence = e.fence AND j.lock_owner = e.owner
            AND coalesce(j.state, '') = 'running' AND NOT {to_cancel} FOR KEY SHARE SKIP LOCKED) j
)
INSERT INTO {s}{p}heartbeat AS h (job_id, fence, lock_until, progress_done, progress_total)
SELECT id, fence, clock_timestamp() + ttl * interval '1 microsecond', done, total FROM k
ON CONFLICT (job_id) DO UPDATE
SET fence = excluded.fence,
    lock_until = CASE WHEN h.fence = excluded.fence
        THEN greatest(h.lock_until, excluded.lock_until) ELSE excluded.lock_until END,
    progress_done = CASE WHEN h.fence = excluded.fence AND excluded.progress_done IS NULL
        THEN h.progress_done ELSE excluded.progress_done END,
    progress_total = CASE WHEN h.fence = excluded.fence AND excluded.progress_done IS NULL
        THEN h.progress_total ELSE excluded.progress_total END
WHERE h.fence <= excluded.fence
RETURNING job_id";

/// $1 ids, $2 fences, $3 owners, $4 next at in µs, $5 next in in µs, $6 outcomes, $7 errors, $8 states, $9 what
/// counts, $10 how long to keep in µs, $11 holds in µs, $12 next slots in µs, $13 missed slots, $14 skipped ones,
/// $15 and $16 what the claim was told that follows. A row that is locked, by its own late renewal or by a
/// guarded transaction, is skipped and tried again: waiting for it here would hold up the whole batch, with the
/// other rows locked already.
pub(super) const FINISH: &str = "
WITH e AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[],
        $6::text[], $7::text[], $8::text[], $9::smallint[], $10::bigint[], $11::bigint[],
        $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[])
        AS e(id, fence, owner, next_at, next_in, outcome, error, state, counts, keep, hold, slot_at, missed, skipped,
            told_at, told_in)
    ORDER BY e.id
), k AS MATERIALIZED (
    SELECT j.at, clock_timestamp() AS now, e.next_at, e.next_in, e.outcome, e.error, e.counts, e.keep, e.hold, e.slot_at, e.missed,
        e.skipped, e.told_at, e.told_in,
        CASE WHEN e.state = 'ready' AND j.to_cancel THEN 'cancelled' ELSE e.state END AS state
    FROM e CROSS JOIN LATERAL (SELECT j.ctid AS at, {to_cancel} AS to_cancel FROM {s}{p}job j
        WHERE {held} FOR UPDATE SKIP LOCKED) j
)
UPDATE {s}{p}job j SET {ended}
FROM k WHERE j.ctid = k.at
RETURNING j.id";

/// $1 ids, $2 fences, $3 owners: ends of which nothing is kept.
pub(super) const FINISH_AWAY: &str = "
WITH e AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS e(id, fence, owner) ORDER BY e.id
), k AS MATERIALIZED (
    SELECT j.at FROM e CROSS JOIN LATERAL (SELECT j.ctid AS at FROM {s}{p}job j
        WHERE {held} FOR UPDATE SKIP LOCKED) j
)
DELETE FROM {s}{p}job j USING k WHERE j.ctid = k.at
RETURNING j.id";

/// $1 ids, $2 fences, $3 owners, $4 channel of work. Answers the ids. All in one statement: the rows are locked first, and
/// the side rows go after it, for `k` is complete before anything is deleted; a first renewal that was confirmed between
/// this statement's snapshot and its lock leaves a side row of a spent fence, which is deleted with other such rows. Other
/// workers are told of jobs, not of names.
pub(super) const RELEASE: &str = "
WITH e AS MATERIALIZED (
    SELECT * FROM unnest((SELECT $1::bigint[]), (SELECT $2::bigint[]), (SELECT $3::text[])) AS e(id, fence, owner)
    ORDER BY e.id
), k AS MATERIALIZED (
    SELECT e.id FROM e CROSS JOIN LATERAL (SELECT FROM {s}{p}job j
        WHERE {held} FOR UPDATE SKIP LOCKED) j
), r AS (
UPDATE {s}{p}job j
SET state = CASE WHEN {to_cancel} AND j.task <> '{leases}' THEN 'cancelled' ELSE 'ready' END,
    prune_at = CASE WHEN {to_cancel} OR j.task = '{leases}' THEN clock_timestamp() + {cancelled_keep} END,
    last_outcome = CASE WHEN {to_cancel} THEN 'cancelled' ELSE j.last_outcome END,
    finished_at = CASE WHEN {to_cancel} THEN clock_timestamp() ELSE j.finished_at END,
    lock_owner = NULL, lock_worker = NULL, lock_until = NULL, attempt = greatest(j.attempt, 1) - 1
FROM k WHERE j.id = k.id
RETURNING j.id, j.task = '{leases}' AS named
), h AS (
    DELETE FROM {s}{p}heartbeat WHERE job_id = ANY(ARRAY(SELECT k.id FROM k))
)
SELECT r.id, (SELECT pg_notify($4, '')::text FROM (SELECT count(*) AS jobs FROM r WHERE NOT r.named) x
    WHERE x.jobs > 0) AS told
FROM r";

/// $1 ids
pub(super) const DROP_BEATS: &str = "DELETE FROM {s}{p}heartbeat WHERE job_id = ANY($1::bigint[])";

/// $1 channel of work, $2 ids of scheduled tasks' jobs, just written. By their ids: were the state compared as it stands, an
/// index of all rows that wait might be taken.
pub(super) const TELL_SLOTS: &str = "
SELECT pg_notify($1, concat('due ', {due}, ' ', j.task))::text FROM {s}{p}job j
WHERE j.id = ANY($2::bigint[]) AND coalesce(j.state, '') = 'ready' AND j.due_at IS NOT NULL";

/// $1 id, $2 fence, $3 owner, $4 time-out in ms: a process that is paused before its COMMIT does not hold
/// the row for ever.
pub(super) const GUARD: &str = "
SELECT 1, set_config('idle_in_transaction_session_timeout', $4, true) FROM {s}{p}job
WHERE id = $1 AND fence = $2 AND lock_owner = $3 AND state = 'running'";

/// $1 id, $2 next at in µs, $3 next in in µs, $4 outcome, $5 state, $6 what counts, $7 how long to keep in µs, $8
/// hold in µs, $9 next slot in µs, $10 missed slots, $11 skipped ones, $12 and $13 what the claim was told that follows. The row is locked by the guard. The side row stays: dropping it would wait for a renewal that is
/// under way.
pub(super) const COMPLETE: &str = "
UPDATE {s}{p}job j SET {ended}
FROM (SELECT $2::bigint AS next_at, $3::bigint AS next_in, $4::text AS outcome, NULL::text AS error,
    $5::text AS state, $6::smallint AS counts, $7::bigint AS keep, $8::bigint AS hold,
    $9::bigint AS slot_at, $10::bigint AS missed, $11::bigint AS skipped, $12::bigint AS told_at, $13::bigint AS told_in,
    clock_timestamp() AS now) k
WHERE j.id = $1";

/// $1 token
pub(super) const BY_TOKEN: &str = "SELECT id, fence, lock_owner AS owner FROM {s}{p}job WHERE state = 'running' AND lock_owner = $1";
