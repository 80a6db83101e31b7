//! How work is taken, and when there will be some.
//!
//! The common parts of a query, in their order (`{wanted}`, `{lane}`, `{seen}`), are fragments: what may be
//! taken of each task, the priorities that wait in it, and the first rows of each in the order of `rank`.

/// $1 limited tasks. Two claims that count the runs of one task must not do so at once. Who does not get the lock
/// leaves the task alone for this time; it goes with the transaction, after its commit can be seen. Its name has
/// the store's id in it, for there may be other stores in the database. Where nothing waits, nothing is locked.
/// (With EXISTS and no order, the table itself is read up to the first such row, past any number of ended ones.)
pub(super) const LOCK_LIMITED: &str = "
SELECT w.task FROM unnest($1::text[]) AS w(task)
WHERE CASE WHEN (SELECT j.priority FROM {s}{p}job j
        WHERE j.state = 'ready' AND j.due_at IS NOT NULL AND j.task = w.task
        ORDER BY j.priority DESC LIMIT 1) IS NOT NULL
    THEN pg_try_advisory_xact_lock(hashtextextended(
        concat((SELECT i.id FROM {s}{p}store i), w.task), 7308895142330199907))
    ELSE false END";

/// $1 tasks, $2 queues, $3 limits, $4 limited tasks that are locked, $5 ttls in µs, $6 limit, $7 token,
/// $8 worker. Each task's due rows are found in its own part of the index, and in there each priority's in its
/// own: with one index over all, due rows of a task that this worker does not have would stand in front, and
/// be read at each look; so would rows of a high priority that are not due. The first rows of all parts
/// together, by rank, say how many are taken of each; locked rows are stepped over within it. Where there is one part
/// alone, and no limit, nothing is to be shared out, and its rows are looked at once.
pub(super) const CLAIM_DUE: &str = "
WITH RECURSIVE {wanted}, {lane}, lanes AS MATERIALIZED (
    SELECT count(*) = 1 AND bool_and(room IS NULL) AS alone FROM lane
), seen AS (
    SELECT l.task, l.priority, l.room, d.rank,
        row_number() OVER (PARTITION BY l.task ORDER BY d.rank) AS nth
    FROM lane l CROSS JOIN LATERAL (
        SELECT {rank} AS rank FROM {s}{p}job j
        WHERE j.state = 'ready' AND j.task = l.task AND j.priority = l.priority
          AND j.due_at <= statement_timestamp() AND {claimable}
        ORDER BY j.due_at LIMIT $6) d
    WHERE (l.room IS NULL OR l.task = ANY($4::text[])) AND NOT (SELECT alone FROM lanes)
), share AS (
    SELECT task, priority, count(*) AS most
    FROM (SELECT task, priority FROM seen WHERE room IS NULL OR nth <= room ORDER BY rank LIMIT $6) s
    GROUP BY task, priority
    UNION ALL SELECT l.task, l.priority, $6 FROM lane l WHERE (SELECT alone FROM lanes)
), k AS MATERIALIZED (
    SELECT s.task, d.at FROM share s CROSS JOIN LATERAL (SELECT j.ctid AS at FROM {s}{p}job j
        WHERE j.state = 'ready' AND j.task = s.task AND j.priority = s.priority
          AND j.due_at <= statement_timestamp() AND {claimable}
        ORDER BY j.due_at LIMIT s.most FOR UPDATE SKIP LOCKED) d
), c AS (
UPDATE {s}{p}job j
SET state = 'running', lock_owner = $7, lock_worker = $8, fence = j.fence + 1,
    lock_until = clock_timestamp() + t.ttl * interval '1 microsecond',
    attempt = {attempt_more}, claimed_at = clock_timestamp(), begun_at = {begins}
FROM k JOIN unnest($1::text[], $5::bigint[]) AS t(task, ttl) ON t.task = k.task
WHERE j.ctid = k.at
RETURNING {claimed}
), {stray} SELECT * FROM c";

/// $1 tasks, $2 queues, $3 limit, $4 suspect from, $5 most suspects. The side row is only a prefilter here:
/// without it, long runs that are alive would fill the limit, and an expired one would never be reached.
pub(super) const LOCK_EXPIRED: &str = "
WITH t AS MATERIALIZED (
    SELECT w.task, w.suspect FROM unnest($1::text[], $2::text[], $4::bigint[])
        AS w(task, queue, suspect) WHERE {unpaused}
), s AS MATERIALIZED (
    SELECT j.id, j.lock_owner FROM t JOIN {s}{p}job j ON j.task = t.task
    WHERE {expired} AND j.crashes >= t.suspect
    ORDER BY j.lock_until LIMIT least($5, $3) FOR UPDATE OF j SKIP LOCKED
), e AS MATERIALIZED (
    SELECT j.id, j.lock_owner FROM t JOIN {s}{p}job j ON j.task = t.task
    WHERE {expired} AND j.crashes < t.suspect
    ORDER BY j.lock_until LIMIT $3 - (SELECT count(*) FROM s) FOR UPDATE OF j SKIP LOCKED
)
SELECT id, lock_owner FROM s UNION ALL SELECT id, lock_owner FROM e";

/// $1 tasks, $2 ttls in µs, $3 ids, $4 token, $5 worker. The rows are locked by now: this look at the
/// side rows, in a snapshot taken after the locks, is the one that decides.
pub(super) const TAKE_EXPIRED: &str = "
WITH c AS (
UPDATE {s}{p}job j
SET lock_owner = $4, lock_worker = $5, fence = j.fence + 1,
    lock_until = clock_timestamp() + t.ttl * interval '1 microsecond',
    attempt = {attempt_more}, crashes = {crash_more}, claimed_at = clock_timestamp(), begun_at = {begins}
FROM unnest($1::text[], $2::bigint[]) AS t(task, ttl)
WHERE t.task = j.task AND j.id = ANY($3::bigint[]) AND j.state = 'running'
  AND j.lock_until < statement_timestamp() AND {claimable}
  AND NOT EXISTS (SELECT FROM {s}{p}heartbeat h
      WHERE h.job_id = j.id AND h.fence = j.fence AND h.lock_until >= statement_timestamp())
RETURNING {claimed}
), {stray} SELECT * FROM c";

/// $1 tasks, $2 queues, $3 limits, $4 channel of work, $5 what to say there before two instants, or NULL: when this statement
/// looked, and what it saw, unless that is there already, and so for everybody who has room. Answers the store's clock, and when something can happen to these tasks next: what
/// no claim takes is left out, or they would be asked for without a pause. Where a task is at its limit, that
/// is the end of a place's hold; the end of a run is announced. Whoever holds the resource of a parked job may have
/// died: somebody has to look.
pub(super) const NEXT_EVENT: &str = "
WITH RECURSIVE {wanted}, {lane}, e AS MATERIALIZED (SELECT least(
    (SELECT min((SELECT j.due_at FROM {s}{p}job j
        WHERE j.state = 'ready' AND j.due_at IS NOT NULL AND j.task = l.task
          AND j.priority = l.priority AND {claimable}
        ORDER BY j.due_at LIMIT 1)) FROM lane l),
    (SELECT min(j.hold_until) FROM t JOIN {s}{p}job j ON j.task = t.task
     WHERE t.room <= 0 AND j.hold_until > statement_timestamp()),
    (SELECT min(greatest(j.lock_until, h.lock_until))
     FROM {s}{p}job j LEFT JOIN {s}{p}heartbeat h ON h.job_id = j.id AND h.fence = j.fence
     WHERE j.state = 'running' AND j.task IN (SELECT t.task FROM t)
       AND j.lock_until IS NOT NULL AND {claimable}),
    (SELECT statement_timestamp() + interval '1 second'
     WHERE EXISTS (SELECT FROM {s}{p}job j JOIN t ON t.task = j.task WHERE {parked}))
) AS at)
SELECT {now} AS now, {event} - {now} AS wait,
    CASE WHEN $5::text IS NOT NULL AND (e.at IS NULL OR e.at > clock_timestamp())
        THEN pg_notify($4, concat($5, {asked}, ' ', {event}))::text END AS told
FROM e";
