//! Jobs as an application and its operators see them.

/// $1 task. A running job is not waited for: a guarded transaction may hold its row for long.
pub(super) const TRIGGER: &str = "
WITH n AS MATERIALIZED (
    SELECT coalesce((SELECT a.task FROM {s}{p}alias a
        WHERE a.name = $1 AND a.served_until > clock_timestamp()), $1) AS task
), k AS (
    SELECT id, due_at <= clock_timestamp() OR parked_due IS NOT NULL AS due FROM {s}{p}job
    WHERE task = (SELECT n.task FROM n) AND unique_key = '' AND state = 'ready' FOR UPDATE
), u AS (
    UPDATE {s}{p}job j SET due_at = greatest(clock_timestamp(), j.hold_until) FROM k
    WHERE j.id = k.id AND k.due IS NOT TRUE RETURNING j.id
)
SELECT (SELECT count(*) FROM k) AS waiting, (SELECT count(*) FROM u) AS moved,
    (SELECT count(*) FROM {s}{p}job WHERE task = (SELECT n.task FROM n) AND unique_key = '') AS known";

/// $1 tasks, $2 schedules, $3 due if new, in µs, $4 resources, $5 slots in µs, $6 versions. Asked first: a conflict would use
/// an id up.
pub(super) const DECLARE: &str = "
INSERT INTO {s}{p}job AS j (task, unique_key, schedule, due_at, resource, slot_at, versions)
SELECT d.task, '', d.schedule, timestamptz 'epoch' + d.due * interval '1 microsecond', d.resource,
    timestamptz 'epoch' + d.slot * interval '1 microsecond', d.version
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::text[])
    AS d(task, schedule, due, resource, slot, version)
WHERE NOT EXISTS (SELECT FROM {s}{p}job o WHERE o.task = d.task AND o.unique_key = '')
ORDER BY d.task
{taken} DO NOTHING";

/// $1 names. Those that are former ones, each with the present one, and whether that is served.
pub(super) const ALIASES: &str = "
SELECT a.name, a.task, a.served_until > clock_timestamp() FROM {s}{p}alias a WHERE a.name = ANY($1::text[])
ORDER BY a.name";

/// $1 former name, $2 name, $3 how long in µs. So are from now on those that were its own.
pub(super) const ALIAS: &str = "
WITH m AS (
    UPDATE {s}{p}alias SET task = $2, served_until = clock_timestamp() + $3::bigint * interval '1 microsecond'
    WHERE task IN ($1, $2) AND name NOT IN ($1, $2)
)
INSERT INTO {s}{p}alias AS a (name, task, served_until)
VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 microsecond')
ON CONFLICT (name) DO UPDATE SET task = excluded.task, served_until = excluded.served_until";

/// $1 names, which are no former ones any more.
pub(super) const UNALIAS: &str = "DELETE FROM {s}{p}alias WHERE name = ANY($1::text[])";

/// Starts exclude each other.
pub(super) const LOCK_ALIASES: &str = "LOCK TABLE {s}{p}alias IN SHARE ROW EXCLUSIVE MODE";

/// $1 names, $2 how long in µs. Which of them are no former ones of this task $3, or will not be known as ones for long.
pub(super) const LAPSING: &str = "
SELECT n.name FROM unnest($1::text[]) AS n(name)
WHERE NOT EXISTS (SELECT FROM {s}{p}alias a WHERE a.name = n.name AND a.task = $3
    AND a.served_until > clock_timestamp() + $2::bigint * interval '1 microsecond')";

/// $1 former name, $2 name, $3 most. Jobs that wait or run, but for those whose key is taken. Each is found in an index of its own.
pub(super) const RENAME_JOBS: &str = "
WITH c AS (
    (SELECT j.id FROM {s}{p}job j WHERE j.task = $1 AND j.state = 'ready' AND j.due_at IS NOT NULL
        AND {no_key_taken} LIMIT $3)
    UNION ALL
    (SELECT j.id FROM {s}{p}job j WHERE j.task = $1 AND j.state = 'ready' AND j.parked_rank IS NOT NULL
        AND {no_key_taken} LIMIT $3)
    UNION ALL
    (SELECT j.id FROM {s}{p}job j WHERE j.task = $1 AND j.state = 'running' AND {no_key_taken} LIMIT $3)
), k AS MATERIALIZED (
    SELECT j.id FROM {s}{p}job j WHERE j.id = ANY(ARRAY(SELECT c.id FROM c)) ORDER BY j.id FOR UPDATE SKIP LOCKED
)
UPDATE {s}{p}job j SET task = $2 FROM k WHERE j.id = k.id";

/// $1 former name, $2 name. What was paused is, under the new name.
pub(super) const RENAME_PAUSE: &str = "
WITH p AS (DELETE FROM {s}{p}pause WHERE kind = 'task' AND name = $1 RETURNING paused_at)
INSERT INTO {s}{p}pause (kind, name, paused_at) SELECT 'task', $2, p.paused_at FROM p
ON CONFLICT DO NOTHING";

/// $1 tasks
pub(super) const UNDECLARED: &str = "
SELECT t.task FROM unnest($1::text[]) AS t(task)
WHERE NOT EXISTS (SELECT FROM {s}{p}job j WHERE j.task = t.task AND j.unique_key = '')
  AND NOT EXISTS (SELECT FROM {s}{p}alias a WHERE a.name = t.task AND a.served_until > clock_timestamp())";

/// $1 former name, $2 name. The row itself, whoever runs it: the lease on it goes on.
pub(super) const RENAME: &str = "
UPDATE {s}{p}job SET task = $2 WHERE task = $1 AND unique_key = ''
  AND NOT EXISTS (SELECT FROM {s}{p}job o WHERE o.task = $2 AND o.unique_key = '')";

/// As above. A row of the former name beside the one of the present name, which an old version has made again.
pub(super) const DROP_FORMER: &str = "
DELETE FROM {s}{p}job WHERE task = $1 AND unique_key = '' AND state = 'ready'
  AND EXISTS (SELECT FROM {s}{p}job o WHERE o.task = $2 AND o.unique_key = '')";

/// $1 tasks
pub(super) const STANDINGS: &str = "
SELECT j.id, j.task, j.state = 'running' AS running, j.schedule, j.resource, {waits} AS due_at, {slot} AS slot_at,
    j.parked_rank IS NOT NULL AS parked, j.attempt, {hold_until} AS hold_until, {next_at} AS next_at, j.next_in,
    j.begun_at IS NOT NULL AS begun, j.again IS TRUE AS again, j.versions
FROM {s}{p}job j WHERE j.task = ANY($1::text[]) AND j.unique_key = '' ORDER BY j.id";

/// $1 id, $2 schedule, $3 resource, $4 due in µs, $5 slot in µs, $6 and $7 what follows the run, $8 versions, $9 whether it stays
/// parked, $10 whether it falls due again, $11 whether it is another slot.
pub(super) const REDECLARE: &str = "
UPDATE {s}{p}job SET schedule = $2, resource = $3,
    due_at = CASE WHEN $9 THEN due_at ELSE timestamptz 'epoch' + $4::bigint * interval '1 microsecond' END,
    slot_at = timestamptz 'epoch' + $5::bigint * interval '1 microsecond',
    next_at = timestamptz 'epoch' + $6::bigint * interval '1 microsecond', next_in = $7, versions = $8,
    again = nullif($10, false), begun_at = CASE WHEN NOT $11 THEN begun_at END,
    attempt = CASE WHEN $11 THEN 0 ELSE attempt END, crashes = CASE WHEN $11 THEN 0 ELSE crashes END,
    refusals = CASE WHEN $11 THEN 0 ELSE refusals END,
    parked_due = CASE WHEN $9 THEN parked_due END, parked_rank = CASE WHEN $9 THEN parked_rank END
WHERE id = $1";

/// The side row of a run that a transaction of the application's has ended stays for a while.
pub(super) const ROW: &str = "
SELECT j.id, j.task, j.state = 'running' AS running, j.lock_owner AS owner, j.fence, j.attempt,
    j.crashes, j.last_outcome, j.last_error, {to_cancel} AS to_cancel,
    {due} AS due_at, {slot} AS slot_at,
    {until} - {now} AS left_us
FROM {s}{p}job j
LEFT JOIN {s}{p}heartbeat h ON h.job_id = j.id AND h.fence = j.fence AND j.state = 'running'";

/// $1 tasks, $2 payloads, $3 priorities, $4 keys, $5 due at in µs, $6 due in in µs, $7 resources. In the order of the arrays, so
/// that ids ascend in it. Nothing is written for a key that is taken.
pub(super) const ENQUEUE: &str = "{insert_jobs} {taken} DO NOTHING
RETURNING id, task, unique_key";

/// As [`ENQUEUE`], of jobs without keys.
pub(super) const ENQUEUE_PLAIN: &str = "{insert_jobs} RETURNING id";

const INSERT_JOBS: &str = "
INSERT INTO {s}{p}job (task, payload, priority, unique_key, due_at, resource)
SELECT x.task, x.payload, x.priority, x.key, coalesce(
    timestamptz 'epoch' + x.due_at * interval '1 microsecond',
    clock_timestamp() + x.due_in * interval '1 microsecond'), x.resource
FROM unnest($1::text[], $2::text[], $3::smallint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
    WITH ORDINALITY AS x(task, payload, priority, key, due_at, due_in, resource, nth)
ORDER BY x.nth";

/// A statement that enqueues, in full.
pub(super) fn enqueue(statement: &str) -> String {
    statement.replace("{insert_jobs}", INSERT_JOBS)
}

/// As [`ENQUEUE_PLAIN`], as a transaction of its own. $8 channel. With what else such a transaction has
/// to do: to announce, once, and to be on disk before it is answered.
pub(super) const ENQUEUE_ALONE: &str = "
WITH n AS ({insert_jobs} RETURNING id), a AS MATERIALIZED (
    SELECT pg_notify($8, ''), CASE WHEN current_setting('synchronous_commit') = 'off'
        THEN set_config('synchronous_commit', 'local', true) END
)
SELECT n.id FROM a CROSS JOIN n";

/// $1 tasks, $2 keys. Who has them.
pub(super) const KEY_TAKEN: &str = "
SELECT j.id, j.task, j.unique_key FROM unnest($1::text[], $2::text[]) AS x(task, key)
JOIN {s}{p}job j ON j.task = x.task AND j.unique_key = x.key
WHERE j.state IN ('ready', 'running')";

/// $1 id. Waits for a guarded transaction to end, for it may end the job.
pub(super) const LOCK_JOB: &str = "
SELECT j.state, j.unique_key IS NOT DISTINCT FROM '' AS standing,
    j.due_at <= clock_timestamp() OR j.parked_due IS NOT NULL AS due FROM {s}{p}job j WHERE j.id = $1 AND j.task <> '{leases}' FOR UPDATE";

/// $1 id
pub(super) const CANCEL_WAITING: &str = "
UPDATE {s}{p}job SET state = 'cancelled', cancelled_at = clock_timestamp(),
    finished_at = clock_timestamp(), last_outcome = 'cancelled',
    due_at = coalesce(due_at, parked_due), parked_due = NULL, parked_rank = NULL,
    prune_at = greatest(clock_timestamp() + {cancelled_keep}, hold_until)
WHERE id = $1";

/// $1 id. The run is told by its next heartbeat, which is not confirmed.
pub(super) const CANCEL_RUNNING: &str = "
UPDATE {s}{p}job SET cancelled_at = coalesce(cancelled_at, clock_timestamp()) WHERE id = $1";

/// $1 id, whose row is locked. Nothing is written where another job has the key; it is answered.
pub(super) const RETRY: &str = "
WITH o AS (
    SELECT o.id FROM {s}{p}job j JOIN {s}{p}job o ON o.task = j.task AND o.unique_key = j.unique_key
    WHERE j.id = $1 AND o.id <> $1 AND o.state IN ('ready', 'running')
), u AS (
    UPDATE {s}{p}job SET state = 'ready', due_at = greatest(clock_timestamp(), hold_until),
        attempt = CASE state WHEN 'ready' THEN attempt ELSE 0 END,
        crashes = CASE state WHEN 'ready' THEN crashes ELSE 0 END,
        refusals = CASE state WHEN 'ready' THEN refusals ELSE 0 END,
        cancelled_at = NULL, prune_at = NULL
    WHERE id = $1 AND NOT EXISTS (SELECT FROM o)
)
SELECT min(o.id) FROM o";

/// $1 kind, $2 name
pub(super) const PAUSE: &str = "
INSERT INTO {s}{p}pause (kind, name) VALUES ($1, $2) ON CONFLICT DO NOTHING";

/// $1 kind, $2 name
pub(super) const RESUME: &str = "DELETE FROM {s}{p}pause WHERE kind = $1 AND name = $2";

pub(super) const PAUSED: &str = "SELECT kind, name FROM {s}{p}pause ORDER BY kind, name";

/// $1 most. In small batches, so that nobody waits for its locks; several workers do not meet.
pub(super) const PRUNE: &str = "
WITH k AS (
    SELECT id FROM {s}{p}job WHERE prune_at <= statement_timestamp()
      AND (state IN ('done', 'dead', 'cancelled') OR (state = 'ready' AND task = '{leases}'))
    ORDER BY prune_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
DELETE FROM {s}{p}job WHERE id = ANY(ARRAY(SELECT k.id FROM k)) RETURNING id";

/// $1 most. Side rows of runs that are over: a renewal may commit just after its end.
pub(super) const PRUNE_BEATS: &str = "
DELETE FROM {s}{p}heartbeat WHERE job_id IN (
    SELECT h.job_id FROM {s}{p}heartbeat h
    LEFT JOIN {s}{p}job j ON j.id = h.job_id AND j.fence = h.fence AND j.state = 'running'
    WHERE j.id IS NULL AND h.lock_until < statement_timestamp() LIMIT $1
    FOR UPDATE OF h SKIP LOCKED)";

const JOB: &str = "
SELECT j.id, j.task, j.state, j.payload, j.priority, nullif(j.unique_key, '') AS unique_key, j.resource,
    j.unique_key IS NOT DISTINCT FROM '' AS standing,
    j.attempt, j.crashes, j.refusals, j.fence, j.lock_worker AS worker, j.last_outcome, j.last_error,
    h.progress_done, h.progress_total,
    {waits} AS due_at, {slot} AS slot_at, j.missed, j.skipped,
    CASE WHEN j.unique_key = '' THEN j.schedule END AS schedule, {until} AS lock_until, {claimed_at} AS claimed_at,
    {finished_at} AS finished_at, {created_at} AS created_at, {cancelled_at} AS cancelled_at
FROM {s}{p}job j
LEFT JOIN {s}{p}heartbeat h ON h.job_id = j.id AND h.fence = j.fence AND j.state = 'running'";

/// $1 id
pub(super) fn job() -> String {
    format!("{JOB} WHERE j.id = $1 AND j.task <> '{{leases}}'")
}

/// $1 task or NULL, $2 states, $3 whether these are ends, $4 before this id, $5 most. Few of the rows may be
/// ended: those stand in an index of their own.
pub(super) fn jobs() -> String {
    format!(
        "{JOB} WHERE ($1::text IS NULL OR j.task = $1) AND j.state = ANY($2::text[])
  AND (NOT $3 OR j.prune_at IS NOT NULL) AND j.id < $4 AND j.task <> '{{leases}}'
ORDER BY j.id DESC LIMIT $5"
    )
}
