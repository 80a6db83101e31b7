//! Jobs as an application and its operators see them.

/// ?1 task
pub(super) const TRIGGER_READ: &str = "
SELECT state <> 'ready', parked_due IS NOT NULL OR (due_at IS NOT NULL AND due_at <= {now}) FROM {p}job
WHERE task = {present} AND unique_key = ''";
pub(super) const TRIGGER_WRITE: &str = "UPDATE {p}job SET due_at = max({now}, coalesce(hold_until, 0)) WHERE task = {present} AND unique_key = '' AND state = 'ready'";

/// ?1 task, ?2 schedule, ?3 due, ?4 resource, ?5 slot, ?6 version
pub(super) const DECLARE: &str = "
INSERT INTO {p}job (task, unique_key, schedule, due_at, resource, slot_at, versions, created_at)
VALUES (?1, '', ?2, ?3, ?4, ?5, ?6, {now})
{taken} DO NOTHING";

/// ?1 name. The present one, if it is a former one, and whether that is served.
pub(super) const ALIASED: &str = "SELECT task, served_until > {now} FROM {p}alias WHERE name = ?1";

/// ?1 former name, ?2 name, ?3 how long in µs. What was the former one's own, and this one's.
pub(super) const REALIAS: &str = "
UPDATE {p}alias SET task = ?2, served_until = {now} + ?3 WHERE task IN (?1, ?2) AND name NOT IN (?1, ?2)";

/// ?1 former name, ?2 name, ?3 how long in µs
pub(super) const ALIAS: &str = "
INSERT INTO {p}alias (name, task, served_until) VALUES (?1, ?2, {now} + ?3)
ON CONFLICT (name) DO UPDATE SET task = excluded.task, served_until = excluded.served_until";

/// ?1 name, which is no former one any more.
pub(super) const UNALIAS: &str = "DELETE FROM {p}alias WHERE name = ?1";

/// ?1 names, ?2 how long in µs, ?3 task. Whether one of them is no former one of this task, or will not be known as one for
/// long.
pub(super) const LAPSING: &str = "
SELECT EXISTS (SELECT 1 FROM json_each(?1) AS n
    WHERE NOT EXISTS (SELECT 1 FROM {p}alias a
        WHERE a.name = n.value AND a.task = ?3 AND a.served_until > {now} + ?2))";

/// ?1 former name, ?2 name. Whether there is something to rename. Each is found in an index of its own.
pub(super) const HAS_FORMER: &str = "
SELECT EXISTS (SELECT 1 FROM {p}job WHERE task = ?1 AND unique_key = '')
    OR EXISTS (SELECT 1 FROM {p}pause WHERE kind = 'task' AND name = ?1)
    OR EXISTS (SELECT 1 FROM {p}job j WHERE j.task = ?1 AND j.state = 'ready' AND j.due_at IS NOT NULL
        AND {no_key_taken})
    OR EXISTS (SELECT 1 FROM {p}job j WHERE j.task = ?1 AND j.state = 'ready' AND j.parked_rank IS NOT NULL
        AND {no_key_taken})
    OR EXISTS (SELECT 1 FROM {p}job j WHERE j.task = ?1 AND j.state = 'running' AND {no_key_taken})";

/// ?1 former name, ?2 name, ?3 most. Jobs that wait or run, but for those whose key is taken.
pub(super) const RENAME_JOBS: &str = "
UPDATE {p}job SET task = ?2 WHERE id IN (
    SELECT j.id FROM {p}job j WHERE j.task = ?1 AND j.state = 'ready' AND j.due_at IS NOT NULL AND {no_key_taken}
    UNION ALL
    SELECT j.id FROM {p}job j WHERE j.task = ?1 AND j.state = 'ready' AND j.parked_rank IS NOT NULL AND {no_key_taken}
    UNION ALL
    SELECT j.id FROM {p}job j WHERE j.task = ?1 AND j.state = 'running' AND {no_key_taken}
    LIMIT ?3)";

/// ?1 former name, ?2 name. What was paused is, under the new name.
pub(super) const RENAME_PAUSE: &str = "
UPDATE OR IGNORE {p}pause SET name = ?2 WHERE kind = 'task' AND name = ?1";

/// ?1 former name, which is paused no more by itself.
pub(super) const DROP_PAUSE: &str =
    "DELETE FROM {p}pause WHERE kind = 'task' AND name = ?1 AND ?2 <> ?1";

/// ?1 tasks
pub(super) const UNDECLARED: &str = "
SELECT t.value FROM json_each(?1) AS t
WHERE NOT EXISTS (SELECT 1 FROM {p}job WHERE task = t.value AND unique_key = '')
  AND NOT EXISTS (SELECT 1 FROM {p}alias a WHERE a.name = t.value AND a.served_until > {now})";

/// ?1 former name, ?2 name. The row itself, whoever runs it: the lease on it goes on.
pub(super) const RENAME: &str = "
UPDATE {p}job SET task = ?2 WHERE task = ?1 AND unique_key = ''
  AND NOT EXISTS (SELECT 1 FROM {p}job o WHERE o.task = ?2 AND o.unique_key = '')";

/// As above. A row of the former name beside the one of the present name, which an old version has made again.
pub(super) const DROP_FORMER: &str = "
DELETE FROM {p}job WHERE task = ?1 AND unique_key = '' AND state = 'ready'
  AND EXISTS (SELECT 1 FROM {p}job o WHERE o.task = ?2 AND o.unique_key = '')";

/// ?1 task
pub(super) const STANDING: &str = "
SELECT id, state = 'running' AS running, schedule, resource, {waits} AS due_at, {slot} AS slot_at,
    parked_rank IS NOT NULL AS parked, {attempts} AS attempt, {hold_until} AS hold_until, {next_at} AS next_at, next_in,
    begun_at IS NOT NULL AS begun, coalesce(again, 0) <> 0 AS again, versions
FROM {p}job WHERE task = ?1 AND unique_key = ''";

/// ?1 id, ?2 schedule, ?3 resource, ?4 due, ?5 slot, ?6 and ?7 what follows the run, ?8 versions, ?9 whether it stays
/// parked, ?10 whether it falls due again, ?11 whether it is another slot.
pub(super) const REDECLARE: &str = "
UPDATE {p}job SET schedule = ?2, resource = ?3, due_at = CASE WHEN ?9 THEN due_at ELSE ?4 END, slot_at = ?5,
    next_at = ?6, next_in = ?7, versions = ?8,
    again = nullif(?10, 0), begun_at = CASE WHEN NOT ?11 THEN begun_at END,
    attempt = CASE WHEN ?11 THEN 0 ELSE attempt END, crashes = CASE WHEN ?11 THEN 0 ELSE crashes END,
    refusals = CASE WHEN ?11 THEN 0 ELSE refusals END,
    parked_due = CASE WHEN ?9 THEN parked_due END, parked_rank = CASE WHEN ?9 THEN parked_rank END
WHERE id = ?1";

pub(super) const ROW: &str = "
SELECT id, task, state = 'running' AS running, lock_owner AS owner, {fence} AS fence,
    {attempts} AS attempt, {crashes} AS crashes, {to_cancel} AS to_cancel, last_outcome, last_error,
    {due} AS due_at, {slot} AS slot_at, {until} - {now} AS left_us
FROM {p}job";

/// It writes, and changes nothing: a deferred transaction that has read nothing yet waits for the file's one write
/// lock by it. If it read first, it would be refused whenever somebody else writes at that time.
pub(super) const IDENTITY_TO_WRITE: &str = "UPDATE {p}store SET id = id RETURNING id";

/// ?1 [[task, payload, priority, key, due at, due in, resource], …]. In this order, so that ids ascend in it. Nothing is
/// written for a key that is taken.
pub(super) const ENQUEUE: &str = "
INSERT INTO {p}job (task, payload, priority, unique_key, due_at, resource, created_at)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3,
    coalesce(value ->> 4, {now} + (value ->> 5)), value ->> 6, {now}
FROM json_each(?1) WHERE true ORDER BY key
{taken} DO NOTHING
RETURNING id, task, unique_key";

/// ?1 payloads, ?2 task, ?3 priority, ?4 due at, ?5 due in, ?6 resource. Jobs without a key that have the rest in common:
/// to take a row of seven columns out of JSON costs as much as to write it. In the order of the payloads.
pub(super) const ENQUEUE_ALIKE: &str = "
INSERT INTO {p}job (task, payload, priority, due_at, resource, created_at)
SELECT ?2, value, ?3, coalesce(?4, {now} + ?5), ?6, {now} FROM json_each(?1)
RETURNING id";

/// ?1 as above. Who has the keys.
pub(super) const KEY_TAKEN: &str = "
SELECT j.id, j.task, j.unique_key FROM json_each(?1) x
JOIN {p}job j ON j.task = x.value ->> 0 AND j.unique_key = x.value ->> 3
WHERE j.unique_key IS NOT NULL AND j.state IN ('ready', 'running')";

/// ?1 id
pub(super) const JOB_STATE: &str = "
SELECT state, unique_key IS '', parked_due IS NOT NULL OR (due_at IS NOT NULL AND due_at <= {now}) FROM {p}job
WHERE id = ?1 AND task <> '{leases}'";

/// ?1 id
pub(super) const CANCEL_WAITING: &str = "
UPDATE {p}job SET state = 'cancelled', cancelled_at = {now}, finished_at = {now},
    last_outcome = 'cancelled', due_at = coalesce(due_at, parked_due), parked_due = NULL,
    parked_rank = NULL, prune_at = max({now} + {cancelled_keep}, coalesce(hold_until, 0))
WHERE id = ?1";

/// ?1 id. The run is told by its next heartbeat, which is not confirmed.
pub(super) const CANCEL_RUNNING: &str =
    "UPDATE {p}job SET cancelled_at = coalesce(cancelled_at, {now}) WHERE id = ?1";

/// ?1 id. The other job that has the key.
pub(super) const KEY_HOLDER: &str = "
SELECT o.id FROM {p}job j JOIN {p}job o ON o.task = j.task AND o.unique_key = j.unique_key
WHERE j.id = ?1 AND o.id <> ?1 AND o.unique_key IS NOT NULL AND o.state IN ('ready', 'running')";

/// ?1 id
pub(super) const RETRY: &str = "
UPDATE {p}job SET state = 'ready', due_at = max({now}, coalesce(hold_until, 0)),
    attempt = CASE state WHEN 'ready' THEN attempt ELSE 0 END,
    crashes = CASE state WHEN 'ready' THEN crashes ELSE 0 END,
    refusals = CASE state WHEN 'ready' THEN refusals ELSE 0 END,
    cancelled_at = NULL, prune_at = NULL
WHERE id = ?1";

/// ?1 kind, ?2 name
pub(super) const PAUSE: &str = "
INSERT INTO {p}pause (kind, name, paused_at) VALUES (?1, ?2, {now}) ON CONFLICT DO NOTHING";

/// ?1 kind, ?2 name
pub(super) const RESUME: &str = "DELETE FROM {p}pause WHERE kind = ?1 AND name = ?2";

pub(super) const PAUSED: &str = "SELECT kind, name FROM {p}pause ORDER BY kind, name";

/// ?1 most. In small batches, so that nobody waits for the write lock for long.
pub(super) const PRUNE: &str = "
DELETE FROM {p}job WHERE id IN (
    SELECT id FROM {p}job WHERE prune_at <= {now} AND (state IN ('done', 'dead', 'cancelled') OR (state = 'ready' AND task = '{leases}'))
    ORDER BY prune_at LIMIT ?1)";

/// Whether there is something to delete: looking takes no write lock.
pub(super) const PRUNABLE: &str = "
SELECT EXISTS (SELECT 1 FROM {p}job WHERE prune_at <= {now} AND (state IN ('done', 'dead', 'cancelled') OR (state = 'ready' AND task = '{leases}')))";

const JOB: &str = "
SELECT id, task, state, payload, priority, nullif(unique_key, '') AS unique_key, resource,
    unique_key IS '' AS standing, {attempts} AS attempt, {crashes} AS crashes,
    {refusals} AS refusals, {fence} AS fence, lock_worker AS worker, last_outcome, last_error,
    {done} AS done, {total} AS total,
    {slot} AS slot_at, CASE WHEN unique_key IS '' THEN schedule END AS schedule, {missed} AS missed,
    {skipped} AS skipped, {waits} AS due_at, {until} AS lock_until, {claimed_at} AS claimed_at,
    {finished_at} AS finished_at, {created_at} AS created_at, {cancelled_at} AS cancelled_at
FROM {p}job";

/// ?1 id
pub(super) fn job() -> String {
    format!("{JOB} WHERE id = ?1 AND task <> '{{leases}}'")
}

/// ?1 task or NULL, ?2 states, ?3 whether these are ends, ?4 before this id, ?5 most. Few of the rows may be ended:
/// those stand in an index of their own.
pub(super) fn jobs() -> String {
    format!(
        "{JOB} WHERE (?1 IS NULL OR task = ?1) AND state IN (SELECT value FROM json_each(?2))
  AND (NOT ?3 OR prune_at IS NOT NULL) AND id < ?4 AND task <> '{{leases}}'
ORDER BY id DESC LIMIT ?5"
    )
}
