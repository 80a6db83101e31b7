//! How work is taken, and when there will be some.

/// ?1 tasks. Of each: whether it is paused; how many of its places are taken, where they are counted; the end of the next hold;
/// when a lease on one of its runs expires next; whether jobs are parked; and the highest priority that waits.
pub(super) const TASKS: &str = "
SELECT e.task, {now} AS now,
    EXISTS (SELECT 1 FROM {p}pause p
        WHERE (p.kind = 'task' AND p.name = e.task) OR (p.kind = 'queue' AND p.name = e.queue)) AS paused,
    CASE WHEN e.most IS NOT NULL THEN
        (SELECT COUNT(*) FROM {p}job r FORCE INDEX ({p}job_running) WHERE r.running_of = e.task)
        + (SELECT COUNT(*) FROM {p}job r FORCE INDEX ({p}job_hold) WHERE r.held_of = e.task AND r.hold_until > {now})
        END AS taken,
    CASE WHEN e.most IS NOT NULL THEN
        (SELECT MIN(r.hold_until) FROM {p}job r FORCE INDEX ({p}job_hold)
         WHERE r.held_of = e.task AND r.hold_until > {now}) END AS held,
    (SELECT MIN({until}) FROM {p}job j FORCE INDEX ({p}job_running)
        LEFT JOIN {p}heartbeat h ON h.job_id = j.id AND h.fence = j.fence
     WHERE j.running_of = e.task AND j.lock_until IS NOT NULL AND {claimable}) AS expires,
    EXISTS (SELECT 1 FROM {p}job r FORCE INDEX ({p}job_parked_task) WHERE r.parked_of = e.task) AS parked,
    (SELECT r.lane FROM {p}job r FORCE INDEX ({p}job_due)
     WHERE r.task = e.task AND r.lane IS NOT NULL ORDER BY r.lane DESC LIMIT 1) AS lane
FROM {tasks}";

/// One of a union: ?1 task, ?2 priority. The next lower one that waits. With a column in the place of the second, all rows of the
/// higher priorities would be read.
pub(super) const NEXT_LANE: &str = "
(SELECT r.task, r.lane FROM {p}job r FORCE INDEX ({p}job_due)
 WHERE r.task = ? AND r.lane < ? ORDER BY r.lane DESC LIMIT 1)";

/// ?1 tasks and priorities. When the first row of each is due.
pub(super) const LANE_DUE: &str = "
SELECT e.task, e.lane, LEAST(GREATEST((SELECT j.due_at FROM {p}job j FORCE INDEX ({p}job_due)
    WHERE j.task = e.task AND j.lane = e.lane AND {claimable} ORDER BY j.due_at LIMIT 1), {first}), {last}) AS due
FROM {lanes}";

/// ?1 task, ?2 priority, ?3 most. By when they are due.
pub(super) const SEEN: &str = "
SELECT {due} AS due FROM {p}job j FORCE INDEX ({p}job_due)
WHERE j.task = ? AND j.lane = ? AND j.due_at <= {now} AND {claimable} ORDER BY j.due_at LIMIT ?";

/// As above; locked.
pub(super) const LOCK_DUE: &str = "
SELECT {claimed} FROM {p}job j FORCE INDEX ({p}job_due)
WHERE j.task = ? AND j.lane = ? AND j.due_at <= {now} AND {claimable}
ORDER BY j.due_at LIMIT ? FOR UPDATE SKIP LOCKED";

/// ?1 tasks, ?2 whether suspects, ?3 most. As far as can be seen without a lock.
pub(super) const EXPIRED: &str = "
SELECT j.id FROM {tasks} STRAIGHT_JOIN {p}job j FORCE INDEX ({p}job_running) ON j.running_of = e.task
WHERE j.lock_until < {now} AND {claimable} AND (j.crashes >= e.suspect) = ?
  AND NOT EXISTS (SELECT 1 FROM {p}heartbeat h
      WHERE h.job_id = j.id AND h.fence = j.fence AND h.lock_until >= {now})
ORDER BY j.lock_until LIMIT ?";

/// ?1 ids, ?2 most. Locked, if they have expired by their own rows.
pub(super) const LOCK_EXPIRED: &str = "
SELECT {claimed}, j.lock_owner AS owner FROM {ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
WHERE j.state = 'running' AND j.lock_until < {now} AND {claimable} LIMIT ? FOR UPDATE SKIP LOCKED";

/// ?1 ids, which are locked: this look at the side rows decides.
pub(super) const BEATS: &str = "
SELECT h.job_id, h.fence, h.lock_until >= {now} AS alive
FROM {ids} STRAIGHT_JOIN {p}heartbeat h FORCE INDEX (PRIMARY) ON h.job_id = e.id";

/// What a claim says of a row, and how far its side row is.
pub(super) const CLAIMED: &str = "j.id, j.task, j.fence, j.attempt, j.crashes, j.refusals, j.payload,
    j.unique_key <=> '' AS standing, {to_cancel} AS to_cancel, {due} AS due_at, {slot} AS slot_at, j.schedule,
    {begun_at} AS begun_at, {next_at} AS next_at, j.next_in, j.priority, j.resource, {now} AS now,
    (SELECT h.fence FROM {p}heartbeat h WHERE h.job_id = j.id) AS beat";

/// ?1 ids, ttls in µs and when their slots were begun; ?2 token, ?3 worker
pub(super) const CLAIM: &str = "
UPDATE {takes} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
SET j.state = 'running', j.lock_owner = ?, j.lock_worker = ?, j.fence = j.fence + 1,
    j.lock_until = {now} + e.ttl, j.attempt = {attempt_more}, j.claimed_at = {now}, j.begun_at = e.begun";

/// As above, of runs whose lease has expired.
pub(super) const TAKE_OVER: &str = "
UPDATE {takes} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
SET j.state = 'running', j.lock_owner = ?, j.lock_worker = ?, j.fence = j.fence + 1,
    j.lock_until = {now} + e.ttl, j.attempt = {attempt_more}, j.crashes = {crash_more}, j.claimed_at = {now},
    j.begun_at = e.begun";

/// ?1 ids. A side row of a fence that is only now given out, or of a later one, is nobody's renewal: it would refuse those to
/// come, or pass for one. Or the run is over.
pub(super) const DROP_BEATS: &str = "
DELETE h FROM {ids} STRAIGHT_JOIN {p}heartbeat h FORCE INDEX (PRIMARY) ON h.job_id = e.id";

/// ?1 tasks. Two claims that count the runs of one task must not do so at once. Who does not get the lock leaves the task alone
/// for this time.
pub(super) const LOCK_LIMITED: &str = "
SELECT l.task FROM {names} STRAIGHT_JOIN {p}limited l FORCE INDEX (PRIMARY) ON l.task = e.name FOR UPDATE SKIP LOCKED";

/// ?1 tasks. Those that have a row, also one that is locked.
pub(super) const KNOWN_LIMITED: &str = "
SELECT l.task FROM {names} STRAIGHT_JOIN {p}limited l FORCE INDEX (PRIMARY) ON l.task = e.name";

/// ?1 tasks
pub(super) const KNOW_LIMITED: &str =
    "INSERT IGNORE INTO {p}limited (task) SELECT e.name FROM {names}";
