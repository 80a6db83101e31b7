//! What is done under a lease, and how it ends.
//!
//! Rows are found by their ids. `+state` keeps the planner from the index of the running rows: after an ANALYZE that saw few of
//! them, it would read all of them for each lease.

/// ?1 [[id, fence, owner, ttl in µs, done, of how much in all], …]; NULL leaves what was told of this run before. A run that is to be cancelled is not renewed, and learns so.
pub(super) const RENEW: &str = "
UPDATE {p}job SET lock_until = max(lock_until, {now} + e.ttl),
    progress_done = CASE WHEN e.done IS NULL THEN progress_done ELSE e.done END,
    progress_total = CASE WHEN e.done IS NULL THEN progress_total ELSE e.total END
FROM (SELECT value ->> 0 AS id, value ->> 1 AS fence, value ->> 2 AS owner, value ->> 3 AS ttl,
        value ->> 4 AS done, value ->> 5 AS total
    FROM json_each(?1)) AS e
WHERE {p}job.id = e.id AND {p}job.fence = e.fence AND lock_owner = e.owner AND +state = 'running'
    AND NOT {to_cancel}
RETURNING id";

/// ?1 [[id, fence, owner, next at, next in, outcome, error, state, what counts, keep, hold, next slot, missed
/// slots, skipped ones, what the claim was told that follows (two)], …], spans in µs. What
/// counts: 0, attempts start anew; 1, this one counts; 2, it does not; 3, it was a refusal.
pub(super) const FINISH: &str = "
UPDATE {p}job
SET state = {becomes}, lock_owner = NULL, lock_worker = NULL, lock_until = NULL,
    attempt = CASE e.counts WHEN 0 THEN 0 WHEN 1 THEN attempt ELSE max(attempt - 1, 0) END,
    crashes = CASE e.counts WHEN 0 THEN 0 ELSE crashes END,
    refusals = CASE e.counts WHEN 0 THEN 0 WHEN 3 THEN {refusal_more} ELSE refusals END,
    finished_at = {now}, last_outcome = e.outcome, last_error = e.error,
    hold_until = CASE WHEN {hold} > {now} THEN {hold} END,
    due_at = CASE WHEN {becomes} <> 'ready' THEN due_at
        WHEN e.counts <> 0 THEN max({now} + e.next_in, coalesce({hold}, {first}))
        WHEN coalesce(again, 0) <> 0 THEN max(min(coalesce({next_due}, {now}), {now}), coalesce({hold}, {first}))
        ELSE max({next_due}, coalesce({hold}, {first})) END,
    slot_at = CASE WHEN e.counts <> 0 OR {becomes} <> 'ready' THEN coalesce(e.slot_at, {p}job.slot_at)
        WHEN {changed} THEN CASE WHEN coalesce({p}job.next_in, 0) >= 0 THEN coalesce({next_at_kept}, {delayed}) END
        ELSE coalesce(e.slot_at, {now} + e.next_in) END,
    begun_at = CASE WHEN e.counts <> 0 THEN begun_at END,
    again = CASE WHEN e.counts <> 0 THEN again END,
    missed = CASE e.missed WHEN 0 THEN {p}job.missed ELSE {missed} + e.missed END,
    skipped = CASE e.skipped WHEN 0 THEN {p}job.skipped ELSE {skipped} + e.skipped END,
    next_at = CASE WHEN e.counts <> 0 THEN {p}job.next_at END,
    next_in = CASE WHEN e.counts <> 0 THEN {p}job.next_in END,
    prune_at = CASE WHEN {becomes} <> 'ready' OR task = '{leases}' THEN
        max({now} + coalesce(e.keep, {cancelled_keep}), coalesce({hold}, {first})) END
FROM (SELECT value ->> 0 AS id, value ->> 1 AS fence, value ->> 2 AS owner, value ->> 3 AS next_at,
        value ->> 4 AS next_in, value ->> 5 AS outcome, value ->> 6 AS error,
        value ->> 7 AS becomes, value ->> 8 AS counts, value ->> 9 AS keep, value ->> 10 AS hold,
        value ->> 11 AS slot_at, value ->> 12 AS missed, value ->> 13 AS skipped,
        value ->> 14 AS told_at, value ->> 15 AS told_in
    FROM json_each(?1)) AS e
WHERE {p}job.id = e.id AND {p}job.fence = e.fence AND lock_owner = e.owner AND +state = 'running'
RETURNING id";

/// ?1 [[id, fence, owner], …]: ends of which nothing is kept.
pub(super) const FINISH_AWAY: &str = "
DELETE FROM {p}job
WHERE id IN (SELECT value ->> 0 FROM json_each(?1)) AND +state = 'running'
  AND (id, fence, lock_owner) IN
      (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1))
RETURNING id";

/// ?1 [[id, fence, owner], …]
pub(super) const RELEASE: &str = "
UPDATE {p}job
SET state = CASE WHEN {to_cancel} AND task <> '{leases}' THEN 'cancelled' ELSE 'ready' END,
    prune_at = CASE WHEN {to_cancel} OR task = '{leases}' THEN {now} + {cancelled_keep} END,
    last_outcome = CASE WHEN {to_cancel} THEN 'cancelled' ELSE last_outcome END,
    finished_at = CASE WHEN {to_cancel} THEN {now} ELSE finished_at END,
    lock_owner = NULL, lock_worker = NULL, lock_until = NULL, attempt = max(attempt - 1, 0)
FROM (SELECT value ->> 0 AS id, value ->> 1 AS fence, value ->> 2 AS owner FROM json_each(?1)) AS e
WHERE {p}job.id = e.id AND {p}job.fence = e.fence AND lock_owner = e.owner AND +state = 'running'
RETURNING id";

/// ?1 id, ?2 fence, ?3 owner. It writes, and changes nothing.
pub(super) const GUARD: &str = "
UPDATE {p}job SET fence = fence
WHERE id = ?1 AND fence = ?2 AND lock_owner = ?3 AND state = 'running' RETURNING 1";

/// ?1 token
pub(super) const ABANDON: &str = "
UPDATE {p}job
SET state = CASE WHEN {to_cancel} AND task <> '{leases}' THEN 'cancelled' ELSE 'ready' END,
    prune_at = CASE WHEN {to_cancel} OR task = '{leases}' THEN {now} + {cancelled_keep} END,
    last_outcome = CASE WHEN {to_cancel} THEN 'cancelled' ELSE last_outcome END,
    finished_at = CASE WHEN {to_cancel} THEN {now} ELSE finished_at END,
    lock_owner = NULL, lock_worker = NULL, lock_until = NULL, attempt = max(attempt - 1, 0)
WHERE state = 'running' AND lock_owner = ?1";
