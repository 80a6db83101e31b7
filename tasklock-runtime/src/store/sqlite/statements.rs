//! The statements, written for SQLite. Instants are microseconds; SQLite's own clock shows
//! milliseconds. Batches travel as JSON, read with `json_each`.

use super::fragments::Fragments;
use crate::fault;
use crate::store::schema::Names;
use crate::store::sql::Text;

/// One writer at a time, from the first statement on: a transaction that starts as a reader and then
/// writes can fail half-way, and one that reads the clock before it waits for the lock reads it early.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// ?1 {"task": ttl in µs}. What no claim takes is left out, or it would be asked for without a pause.
const NEXT_EVENT: &str = "
SELECT {now} AS now, (SELECT {event} FROM (
    SELECT min(due_at) AS at FROM {p}job
    WHERE state = 'ready' AND due_at IS NOT NULL AND {claimable}
      AND task IN (SELECT key FROM json_each(?1))
    UNION ALL
    SELECT min(lock_until) FROM {p}job
    WHERE state = 'running' AND {claimable}
      AND task IN (SELECT key FROM json_each(?1)))) AS at";

/// ?1 {"task": ttl in µs}, ?2 limit, ?3 token, ?4 worker
const CLAIM_DUE: &str = "
UPDATE {p}job
SET state = 'running', lock_owner = ?3, lock_worker = ?4, fence = fence + 1,
    lock_until = {now} + (SELECT value FROM json_each(?1) WHERE key = task),
    attempt = {attempt_more}, claimed_at = {now}
WHERE id IN (
    SELECT id FROM {p}job
    WHERE state = 'ready' AND due_at <= {now} AND {claimable} AND task IN (SELECT key FROM json_each(?1))
    ORDER BY due_at LIMIT ?2)
RETURNING id, task, fence, attempt, {due} AS due_at";

/// The same for rows whose lease has expired; not for one that this very transaction has claimed, and that
/// has expired since, for the process stood still in between.
const TAKE_EXPIRED: &str = "
UPDATE {p}job
SET lock_owner = ?3, lock_worker = ?4, fence = fence + 1,
    lock_until = {now} + (SELECT value FROM json_each(?1) WHERE key = task),
    attempt = {attempt_more}, crashes = {crash_more}, claimed_at = {now}
WHERE id IN (
    SELECT id FROM {p}job
    WHERE state = 'running' AND lock_until < {now} AND lock_owner IS NOT ?3 AND {claimable}
      AND task IN (SELECT key FROM json_each(?1))
    ORDER BY lock_until LIMIT ?2)
RETURNING id, task, fence, attempt, {due} AS due_at";

/// ?1 [[id, fence, owner, ttl in µs], …]
const RENEW: &str = "
UPDATE {p}job SET lock_until = max(lock_until, {now} + e.ttl)
FROM (SELECT value ->> 0 AS id, value ->> 1 AS fence, value ->> 2 AS owner, value ->> 3 AS ttl
    FROM json_each(?1)) AS e
WHERE {p}job.id = e.id AND {p}job.fence = e.fence AND lock_owner = e.owner AND state = 'running'
RETURNING id";

/// ?1 [[id, fence, owner, next at, next in, outcome, error], …]
const FINISH: &str = "
UPDATE {p}job
SET state = 'ready', lock_owner = NULL, lock_worker = NULL, lock_until = NULL, attempt = 0,
    crashes = 0, finished_at = {now}, last_outcome = e.outcome, last_error = e.error,
    due_at = coalesce(e.next_at, {now} + e.next_in)
FROM (SELECT value ->> 0 AS id, value ->> 1 AS fence, value ->> 2 AS owner, value ->> 3 AS next_at,
        value ->> 4 AS next_in, value ->> 5 AS outcome, value ->> 6 AS error
    FROM json_each(?1)) AS e
WHERE {p}job.id = e.id AND {p}job.fence = e.fence AND lock_owner = e.owner AND state = 'running'
RETURNING id";

/// ?1 [[id, fence, owner], …]
const RELEASE: &str = "
UPDATE {p}job
SET state = 'ready', lock_owner = NULL, lock_worker = NULL, lock_until = NULL,
    attempt = max(attempt - 1, 0)
FROM (SELECT value ->> 0 AS id, value ->> 1 AS fence, value ->> 2 AS owner FROM json_each(?1)) AS e
WHERE {p}job.id = e.id AND {p}job.fence = e.fence AND lock_owner = e.owner AND state = 'running'
RETURNING id";

/// ?1 id, ?2 fence, ?3 owner. It writes, and changes nothing.
const GUARD: &str = "
UPDATE {p}job SET fence = fence
WHERE id = ?1 AND fence = ?2 AND lock_owner = ?3 AND state = 'running' RETURNING 1";

/// ?1 name, ?2 fence; in a foreign file. A refused fence leaves a reference to a row that cannot be there,
/// for no name is empty.
pub(super) const REGISTER_FENCE: &str = "
INSERT INTO tasklock_fence (name, fence, updated_at)
VALUES (?1, ?2, strftime('%Y-%m-%d %H:%M:%f', 'now'))
ON CONFLICT (name) DO UPDATE SET fence = max(fence, excluded.fence), updated_at = excluded.updated_at,
    refused = CASE WHEN excluded.fence < fence THEN '' END
RETURNING fence, refused IS NOT NULL";

/// ?1 token
const ABANDON: &str = "
UPDATE {p}job
SET state = 'ready', lock_owner = NULL, lock_worker = NULL, lock_until = NULL,
    attempt = max(attempt - 1, 0)
WHERE state = 'running' AND lock_owner = ?1";

/// ?1 task
const TRIGGER_READ: &str = "
SELECT state <> 'ready', due_at IS NOT NULL AND due_at <= {now} FROM {p}job
WHERE task = ?1 AND unique_key = ''";
const TRIGGER_WRITE: &str =
    "UPDATE {p}job SET due_at = {now} WHERE task = ?1 AND unique_key = '' AND state = 'ready'";

/// ?1 task, ?2 schedule
const DECLARED: &str = "
SELECT schedule IS ?2, state = 'ready' FROM {p}job WHERE task = ?1 AND unique_key = ''";
/// ?1 task, ?2 schedule, ?3 due
const DECLARE: &str = "
INSERT INTO {p}job (task, unique_key, schedule, due_at, created_at) VALUES (?1, '', ?2, ?3, {now})
ON CONFLICT (task, unique_key) DO NOTHING";
const RESCHEDULE: &str = "
UPDATE {p}job SET schedule = ?2, due_at = ?3
WHERE task = ?1 AND unique_key = '' AND state = 'ready'";

const ROW: &str = "
SELECT id, task, state = 'running' AS running, lock_owner AS owner, {fence} AS fence,
    {attempts} AS attempt, {crashes} AS crashes, last_outcome, last_error,
    {due} AS due_at, {until} - {now} AS left_us
FROM {p}job";

/// The statements with the tables' names in place.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) path: std::path::PathBuf,
    pub(super) now: Text,
    pub(super) next_event: Text,
    pub(super) claim_due: Text,
    pub(super) take_expired: Text,
    pub(super) renew: Text,
    pub(super) finish: Text,
    pub(super) release: Text,
    pub(super) guard: Text,
    pub(super) identity: Text,
    pub(super) abandon: Text,
    pub(super) trigger_read: Text,
    pub(super) trigger_write: Text,
    pub(super) declared: Text,
    pub(super) declare: Text,
    pub(super) reschedule: Text,
    pub(super) inspect: Text,
    pub(super) standing: Text,
}

impl Statements {
    pub(super) fn new(names: &Names, path: &std::path::Path) -> Self {
        let fragments = Fragments::new();
        let fill = |sql: &str| Text::from(fault::statement(names.fill(&fragments.fill(sql))));
        Self {
            path: path.to_path_buf(),
            now: fill("SELECT {now}"),
            next_event: fill(NEXT_EVENT),
            claim_due: fill(CLAIM_DUE),
            take_expired: fill(TAKE_EXPIRED),
            renew: fill(RENEW),
            finish: fill(FINISH),
            release: fill(RELEASE),
            guard: fill(GUARD),
            identity: fill("SELECT id FROM {p}store"),
            abandon: fill(ABANDON),
            trigger_read: fill(TRIGGER_READ),
            trigger_write: fill(TRIGGER_WRITE),
            declared: fill(DECLARED),
            declare: fill(DECLARE),
            reschedule: fill(RESCHEDULE),
            inspect: fill(&format!(
                "{ROW} WHERE id IN (SELECT value FROM json_each(?1))"
            )),
            standing: fill(&format!("{ROW} WHERE task = ?1 AND unique_key = ''")),
        }
    }
}
