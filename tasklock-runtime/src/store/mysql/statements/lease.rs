//! What is done under a lease, and how it ends.

/// ?1 leases. Those that are held, locked so that none of them is taken over, ended or given back. A run that is to be cancelled
/// is not renewed, and learns so.
pub(super) const LOCK_TO_RENEW: &str = "
SELECT j.id FROM {keys} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY)
    ON j.id = e.id AND j.fence = e.fence AND j.lock_owner = e.owner
WHERE j.state = 'running' AND NOT {to_cancel}
  AND NOT EXISTS (SELECT 1 FROM {p}heartbeat h WHERE h.job_id = j.id AND h.fence > j.fence) {shared}";

/// ?1 leases, ttls in µs, done, of how much in all; NULL leaves what was told of this run before. In this order: an assignment
/// sees those before it.
pub(super) const RENEW: &str = "
INSERT INTO {p}heartbeat (job_id, fence, lock_until, progress_done, progress_total)
SELECT e.id, e.fence, {now} + e.ttl, e.done, e.total FROM {renewals}
ON DUPLICATE KEY UPDATE
    progress_total = CASE WHEN {p}heartbeat.fence = VALUES(fence) AND VALUES(progress_done) IS NULL
        THEN {p}heartbeat.progress_total ELSE VALUES(progress_total) END,
    progress_done = CASE WHEN {p}heartbeat.fence = VALUES(fence) AND VALUES(progress_done) IS NULL
        THEN {p}heartbeat.progress_done ELSE VALUES(progress_done) END,
    lock_until = CASE WHEN {p}heartbeat.fence = VALUES(fence)
        THEN GREATEST({p}heartbeat.lock_until, VALUES(lock_until)) ELSE VALUES(lock_until) END,
    fence = VALUES(fence)";

/// ?1 leases. Those that are held, locked.
pub(super) const LOCK_HELD: &str = "
SELECT j.id, j.task <> '{leases}' AS job FROM {keys} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY)
    ON j.id = e.id AND j.fence = e.fence AND j.lock_owner = e.owner
WHERE j.state = 'running' FOR UPDATE SKIP LOCKED";

/// ?1 ends. What becomes of the rows that are held. A row that is locked, by its own late renewal or by a guarded transaction, is skipped
/// and tried again: waiting for it here would hold up the whole batch. What counts: 0, attempts start anew; 1, this one
/// counts; 2, it does not; 3, it was a refusal.
pub(super) const LOCK_ENDS: &str = "
SELECT j.id, e.outcome, e.error, {becomes} AS state,
    CASE e.counts WHEN 0 THEN 0 WHEN 1 THEN j.attempt ELSE GREATEST(j.attempt, 1) - 1 END AS attempt,
    CASE e.counts WHEN 0 THEN 0 ELSE j.crashes END AS crashes,
    CASE e.counts WHEN 0 THEN 0 WHEN 3 THEN {refusal_more} ELSE j.refusals END AS refusals,
    CASE WHEN {hold} > {now} THEN {hold} END AS hold_until,
    CASE WHEN {becomes} <> 'ready' THEN j.due_at
        WHEN e.counts <> 0 THEN GREATEST({now} + e.next_in, COALESCE({hold}, {first}))
        WHEN COALESCE(j.again, FALSE) THEN GREATEST(LEAST(COALESCE({next_due}, {now}), {now}), COALESCE({hold}, {first}))
        ELSE GREATEST({next_due}, COALESCE({hold}, {first})) END AS due_at,
    CASE WHEN e.counts <> 0 OR {becomes} <> 'ready' THEN COALESCE(e.slot_at, j.slot_at)
        WHEN {changed} THEN CASE WHEN COALESCE(j.next_in, 0) >= 0 THEN COALESCE({next_at_kept}, {delayed}) END
        ELSE COALESCE(e.slot_at, {now} + e.next_in) END AS slot_at,
    CASE WHEN e.counts <> 0 THEN j.begun_at END AS begun_at,
    CASE WHEN e.counts <> 0 THEN j.again END AS again,
    CASE e.missed WHEN 0 THEN j.missed ELSE {missed} + e.missed END AS missed,
    CASE e.skipped WHEN 0 THEN j.skipped ELSE {skipped} + e.skipped END AS skipped,
    CASE WHEN e.counts <> 0 THEN j.next_at END AS next_at,
    CASE WHEN e.counts <> 0 THEN j.next_in END AS next_in,
    CASE WHEN {becomes} <> 'ready' OR j.task = '{leases}' THEN
        GREATEST({now} + COALESCE(e.keep, {cancelled_keep}), COALESCE({hold}, {first})) END AS prune_at
FROM {ends} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY)
    ON j.id = e.id AND j.fence = e.fence AND j.lock_owner = e.owner
WHERE j.state = 'running' FOR UPDATE";

/// ?1 rows as they become. They are locked.
pub(super) const WRITE_ENDS: &str = "
UPDATE {ended} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
SET j.state = e.state, j.lock_owner = NULL, j.lock_worker = NULL, j.lock_until = NULL, j.attempt = e.attempt,
    j.crashes = e.crashes, j.refusals = e.refusals, j.finished_at = {now}, j.last_outcome = e.outcome,
    j.last_error = e.error, j.hold_until = e.hold_until, j.due_at = e.due_at, j.slot_at = e.slot_at,
    j.begun_at = e.begun_at, j.again = e.again, j.missed = e.missed, j.skipped = e.skipped, j.next_at = e.next_at,
    j.next_in = e.next_in, j.prune_at = e.prune_at";

/// ?1 ids, which are locked: ends of which nothing is kept.
pub(super) const DROP_JOBS: &str = "
DELETE j FROM {ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id";

/// ?1 ids, which are locked.
pub(super) const RELEASE: &str = "
UPDATE {ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
SET j.state = CASE WHEN {to_cancel} AND j.task <> '{leases}' THEN 'cancelled' ELSE 'ready' END,
    j.prune_at = CASE WHEN {to_cancel} OR j.task = '{leases}' THEN {now} + {cancelled_keep} END,
    j.last_outcome = CASE WHEN {to_cancel} THEN 'cancelled' ELSE j.last_outcome END,
    j.finished_at = CASE WHEN {to_cancel} THEN {now} ELSE j.finished_at END,
    j.lock_owner = NULL, j.lock_worker = NULL, j.lock_until = NULL, j.attempt = GREATEST(j.attempt, 1) - 1";

/// ?1 id, ?2 fence, ?3 owner. Takeover, finish and release, which lock FOR UPDATE, skip the row; heartbeats pass.
pub(super) const GUARD: &str = "
SELECT 1 FROM {p}job WHERE id = ? AND fence = ? AND lock_owner = ? AND state = 'running' LOCK IN SHARE MODE";

/// ?1 token
pub(super) const BY_TOKEN: &str = "
SELECT id, fence FROM {p}job FORCE INDEX ({p}job_running)
WHERE running_of IS NOT NULL AND lock_owner = ? AND state = 'running'";
