//! The statements, written for Postgres. Their forms were tried under forced interleavings; what looks
//! like it could be one statement fewer usually cannot (see [`crate::store`]).
//!
//! `statement_timestamp()` stands in predicates, where the index can serve it and where being a little
//! early errs to the safe side; `clock_timestamp()` in what is written.

use super::fragments::Fragments;
use crate::fault;
use crate::store::schema::Names;
use crate::store::sql::Text;

/// With a bound on the server's side, in the same round trip: a worker that is stopped, or cut off, in
/// the midst of a transaction would else hold its row locks, and nobody could take over. A statement
/// and no startup parameter, which poolers refuse.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; \
    SET LOCAL idle_in_transaction_session_timeout = '2s'; \
    SELECT set_config('synchronous_commit', 'local', true) \
    WHERE current_setting('synchronous_commit') = 'off'";

/// $1 tasks, $2 ttls in µs, $3 limit, $4 token, $5 worker. Each task's due rows are found in its own part
/// of the index: with one index over all, due rows of a task that this worker does not have would
/// stand in front, and be read at each look.
const CLAIM_DUE: &str = "
WITH t AS MATERIALIZED (
    SELECT t.task, t.ttl, (SELECT j.due_at FROM {s}{p}job j
        WHERE j.state = 'ready' AND j.due_at IS NOT NULL AND j.task = t.task
        ORDER BY j.due_at LIMIT 1) AS head
    FROM unnest($1::text[], $2::bigint[]) AS t(task, ttl)
), k AS MATERIALIZED (
    SELECT due.id, t.ttl
    FROM (SELECT * FROM t WHERE head <= statement_timestamp() ORDER BY head) t
    CROSS JOIN LATERAL (SELECT j.id FROM {s}{p}job j
        WHERE j.state = 'ready' AND j.task = t.task AND j.due_at <= statement_timestamp()
          AND {claimable}
        ORDER BY j.due_at LIMIT $3 FOR UPDATE SKIP LOCKED) due
    LIMIT $3
), c AS (
UPDATE {s}{p}job j
SET state = 'running', lock_owner = $4, lock_worker = $5, fence = j.fence + 1,
    lock_until = clock_timestamp() + k.ttl * interval '1 microsecond',
    attempt = {attempt_more}, claimed_at = clock_timestamp()
FROM k WHERE j.id = k.id
RETURNING j.id, j.task, j.fence, j.attempt, {due} AS due_at
), {stray} SELECT * FROM c";

/// $1 tasks, $2 limit, $3 token. The side row is only a prefilter here: without it, long runs that are
/// alive would fill the limit, and an expired one would never be reached. What this very transaction has
/// claimed may have expired by now, if the process stood still in between: it is not taken from itself.
const LOCK_EXPIRED: &str = "
SELECT j.id FROM {s}{p}job j
WHERE j.state = 'running' AND j.lock_until < statement_timestamp() AND j.task = ANY($1::text[])
  AND {claimable} AND j.lock_owner IS DISTINCT FROM $3
  AND NOT EXISTS (SELECT FROM {s}{p}heartbeat h
      WHERE h.job_id = j.id AND h.fence = j.fence AND h.lock_until >= statement_timestamp())
ORDER BY j.lock_until LIMIT $2 FOR UPDATE OF j SKIP LOCKED";

/// $1 tasks, $2 ttls in µs, $3 ids, $4 token, $5 worker. The rows are locked by now: this look at the
/// side rows, in a snapshot taken after the locks, is the one that decides.
const TAKE_EXPIRED: &str = "
WITH c AS (
UPDATE {s}{p}job j
SET lock_owner = $4, lock_worker = $5, fence = j.fence + 1,
    lock_until = clock_timestamp() + t.ttl * interval '1 microsecond',
    attempt = {attempt_more}, crashes = {crash_more}, claimed_at = clock_timestamp()
FROM unnest($1::text[], $2::bigint[]) AS t(task, ttl)
WHERE t.task = j.task AND j.id = ANY($3::bigint[]) AND j.state = 'running'
  AND j.lock_until < statement_timestamp() AND {claimable}
  AND NOT EXISTS (SELECT FROM {s}{p}heartbeat h
      WHERE h.job_id = j.id AND h.fence = j.fence AND h.lock_until >= statement_timestamp())
RETURNING j.id, j.task, j.fence, j.attempt, {due} AS due_at
), {stray} SELECT * FROM c";

/// $1 tasks. The store's clock, and when something can happen to these tasks next: what no claim takes is
/// left out, or they would be asked for without a pause.
const NEXT_EVENT: &str = "
WITH e AS MATERIALIZED (SELECT least(
    (SELECT min((SELECT j.due_at FROM {s}{p}job j
        WHERE j.state = 'ready' AND j.due_at IS NOT NULL AND j.task = t.task AND {claimable}
        ORDER BY j.due_at LIMIT 1)) FROM unnest($1::text[]) AS t(task)),
    (SELECT min(greatest(j.lock_until, h.lock_until))
     FROM {s}{p}job j LEFT JOIN {s}{p}heartbeat h ON h.job_id = j.id AND h.fence = j.fence
     WHERE j.state = 'running' AND j.task = ANY($1::text[])
       AND j.lock_until IS NOT NULL AND {claimable})
) AS at)
SELECT {now} AS now, {event} - {now} AS wait FROM e";

/// $1 ids, $2 fences, $3 owners, $4 ttls in µs. KEY SHARE excludes takeover, finish and release, which
/// all lock FOR UPDATE first, and skips a row that one of them has.
const RENEW: &str = "
WITH k AS (
    SELECT j.id, j.fence, x.ttl
    FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[]) AS x(id, fence, owner, ttl)
    JOIN {s}{p}job j ON j.id = x.id AND j.fence = x.fence AND j.lock_owner = x.owner
    WHERE j.state = 'running' ORDER BY j.id FOR KEY SHARE OF j SKIP LOCKED
)
INSERT INTO {s}{p}heartbeat AS h (job_id, fence, lock_until)
SELECT id, fence, clock_timestamp() + ttl * interval '1 microsecond' FROM k
ON CONFLICT (job_id) DO UPDATE
SET fence = excluded.fence,
    lock_until = CASE WHEN h.fence = excluded.fence
        THEN greatest(h.lock_until, excluded.lock_until) ELSE excluded.lock_until END
WHERE h.fence <= excluded.fence
RETURNING job_id";

/// $1 ids, $2 fences, $3 owners, $4 next at in µs, $5 next in in µs, $6 outcomes, $7 errors. A row that
/// is locked, by its own late renewal or by a guarded transaction, is skipped and tried again: waiting
/// for it here would hold up the whole batch, with the other rows locked already.
const FINISH: &str = "
WITH e AS (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[],
        $6::text[], $7::text[]) AS e(id, fence, owner, next_at, next_in, outcome, error)
), k AS (
    SELECT e.* FROM {s}{p}job j
    JOIN e ON e.id = j.id AND e.fence = j.fence AND e.owner = j.lock_owner
    WHERE j.state = 'running' ORDER BY j.id FOR UPDATE OF j SKIP LOCKED
)
UPDATE {s}{p}job j
SET state = 'ready', lock_owner = NULL, lock_worker = NULL, lock_until = NULL, attempt = 0,
    crashes = 0, finished_at = clock_timestamp(), last_outcome = k.outcome, last_error = k.error,
    due_at = coalesce(
        timestamptz 'epoch' + k.next_at * interval '1 microsecond',
        clock_timestamp() + k.next_in * interval '1 microsecond')
FROM k WHERE j.id = k.id
RETURNING j.id";

/// $1 ids, $2 fences, $3 owners
const RELEASE: &str = "
WITH k AS (
    SELECT j.id FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS e(id, fence, owner)
    JOIN {s}{p}job j ON e.id = j.id AND e.fence = j.fence AND e.owner = j.lock_owner
    WHERE j.state = 'running' ORDER BY j.id FOR UPDATE OF j SKIP LOCKED
)
UPDATE {s}{p}job j
SET state = 'ready', lock_owner = NULL, lock_worker = NULL, lock_until = NULL,
    attempt = greatest(j.attempt, 1) - 1
FROM k WHERE j.id = k.id
RETURNING j.id";

/// $1 ids
const DROP_BEATS: &str = "DELETE FROM {s}{p}heartbeat WHERE job_id = ANY($1::bigint[])";

/// $1 id, $2 fence, $3 owner, $4 time-out in ms: a process that is paused before its COMMIT does not hold
/// the row for ever.
const GUARD: &str = "
SELECT 1, set_config('idle_in_transaction_session_timeout', $4, true) FROM {s}{p}job
WHERE id = $1 AND fence = $2 AND lock_owner = $3 AND state = 'running'";

/// $1 id, $2 next at in µs, $3 next in in µs, $4 outcome. The row is locked by the guard. The side row
/// stays: dropping it would wait for a renewal that is under way.
const COMPLETE: &str = "
UPDATE {s}{p}job
SET state = 'ready', lock_owner = NULL, lock_worker = NULL, lock_until = NULL, attempt = 0,
    crashes = 0, finished_at = clock_timestamp(), last_outcome = $4, last_error = NULL,
    due_at = coalesce(
        timestamptz 'epoch' + $2 * interval '1 microsecond',
        clock_timestamp() + $3 * interval '1 microsecond')
WHERE id = $1";

/// $1 name, $2 fence; no row if a greater one is registered. In a foreign database. An equal fence is
/// written too, so that a snapshot that had to wait for its lock fails; and where nothing is written, the
/// row is locked all the same.
pub(super) const REGISTER_FENCE: &str = "
INSERT INTO tasklock_fence AS f (name, fence, updated_at) VALUES ($1, $2, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET fence = excluded.fence, updated_at = excluded.updated_at
WHERE f.fence <= excluded.fence
RETURNING f.fence";

/// $1 name
pub(super) const REGISTERED_FENCE: &str = "SELECT fence FROM tasklock_fence WHERE name = $1";

/// $1 why. Fails, and so aborts the transaction; the reason stands in the server's log.
pub(super) const ABORT: &str = "SELECT CAST($1::text AS bigint)";

/// $1 token
const BY_TOKEN: &str = "SELECT id, fence, lock_owner AS owner FROM {s}{p}job WHERE state = 'running' AND lock_owner = $1";

/// $1 task. A running job is not waited for: a guarded transaction may hold its row for long.
const TRIGGER: &str = "
WITH k AS (
    SELECT id, due_at <= clock_timestamp() AS due FROM {s}{p}job
    WHERE task = $1 AND unique_key = '' AND state = 'ready' FOR UPDATE
), u AS (
    UPDATE {s}{p}job j SET due_at = clock_timestamp() FROM k
    WHERE j.id = k.id AND k.due IS NOT TRUE RETURNING j.id
)
SELECT (SELECT count(*) FROM k) AS waiting, (SELECT count(*) FROM u) AS moved,
    (SELECT count(*) FROM {s}{p}job WHERE task = $1 AND unique_key = '') AS known";

/// $1 tasks, $2 schedules, $3 due if new, in µs. Asked first: a conflict would use an id up.
const DECLARE: &str = "
INSERT INTO {s}{p}job AS j (task, unique_key, schedule, due_at)
SELECT d.task, '', d.schedule, timestamptz 'epoch' + d.if_new * interval '1 microsecond'
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS d(task, schedule, if_new)
WHERE NOT EXISTS (SELECT FROM {s}{p}job o WHERE o.task = d.task AND o.unique_key = '')
ORDER BY d.task
ON CONFLICT (task, unique_key) DO NOTHING";

/// $1 tasks, $2 schedules, $3 due if changed, in µs
const RESCHEDULE: &str = "
WITH d AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS d(task, schedule, if_changed)
), k AS (
    SELECT j.id, d.schedule, d.if_changed FROM {s}{p}job j JOIN d ON d.task = j.task
    WHERE j.unique_key = '' AND j.state = 'ready' AND j.schedule IS DISTINCT FROM d.schedule
    ORDER BY j.id FOR UPDATE OF j
)
UPDATE {s}{p}job j SET schedule = k.schedule,
    due_at = timestamptz 'epoch' + k.if_changed * interval '1 microsecond'
FROM k WHERE j.id = k.id";

const ROW: &str = "
SELECT j.id, j.task, j.state = 'running' AS running, j.lock_owner AS owner, j.fence, j.attempt,
    j.crashes, j.last_outcome, j.last_error,
    {due} AS due_at,
    {until} - {now} AS left_us
FROM {s}{p}job j LEFT JOIN {s}{p}heartbeat h ON h.job_id = j.id AND h.fence = j.fence";

/// The statements with the tables' names in place.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) now: Text,
    pub(super) claim_due: Text,
    pub(super) lock_expired: Text,
    pub(super) take_expired: Text,
    pub(super) next_event: Text,
    pub(super) renew: Text,
    pub(super) finish: Text,
    pub(super) release: Text,
    pub(super) drop_beats: Text,
    pub(super) guard: Text,
    pub(super) guard_to_complete: Text,
    pub(super) complete: Text,
    pub(super) identity: Text,
    pub(super) by_token: Text,
    pub(super) trigger: Text,
    pub(super) declare: Text,
    pub(super) reschedule: Text,
    pub(super) inspect: Text,
    pub(super) standing: Text,
    /// What announcements are sent on.
    pub(super) channel: String,
}

impl Statements {
    pub(super) fn new(names: &Names) -> Self {
        let fragments = Fragments::new();
        let fill = |sql: &str| Text::from(fault::statement(names.fill(&fragments.fill(sql))));
        Self {
            now: fill("SELECT {now}"),
            claim_due: fill(CLAIM_DUE),
            lock_expired: fill(LOCK_EXPIRED),
            take_expired: fill(TAKE_EXPIRED),
            next_event: fill(NEXT_EVENT),
            renew: fill(RENEW),
            finish: fill(FINISH),
            release: fill(RELEASE),
            drop_beats: fill(DROP_BEATS),
            guard: fill(&format!("{GUARD} FOR SHARE")),
            guard_to_complete: fill(&format!("{GUARD} FOR NO KEY UPDATE")),
            complete: fill(COMPLETE),
            identity: fill("SELECT id FROM {s}{p}store"),
            by_token: fill(BY_TOKEN),
            trigger: fill(TRIGGER),
            declare: fill(DECLARE),
            reschedule: fill(RESCHEDULE),
            inspect: fill(&format!("{ROW} WHERE j.id = ANY($1::bigint[])")),
            standing: fill(&format!("{ROW} WHERE j.task = $1 AND j.unique_key = ''")),
            channel: match names.schema() {
                // Schema and prefix are at most 40 bytes each, a channel's name 63.
                Some(schema) => short(&format!("{schema}.{}", names.fill("{p}job"))),
                None => names.fill("{p}job"),
            },
        }
    }
}

/// Postgres cuts identifiers at 63 bytes; two long names must not become one channel.
fn short(name: &str) -> String {
    if name.len() <= 63 {
        return name.to_owned();
    }
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{}_{hash:016x}", &name[..46])
}
