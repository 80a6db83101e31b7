//! How work is taken, and when there will be some.

/// ?1 tasks. Of each: whether it is paused; how many of its runs are under way, where they are counted; when the first of its
/// runs expires by its own row, and the first that no renewal has put off; whether jobs are parked; and the highest priority
/// that waits. What is asked of a task by a column is one step of an index, or a few, and no range: an outer column bounds none,
/// and all rows of the task would be read.
pub(super) const TASKS: &str = "
SELECT e.task, {now} AS now,
    EXISTS (SELECT 1 FROM {p}pause p
        WHERE (p.kind = 'task' AND p.name = e.task) OR (p.kind = 'queue' AND p.name = e.queue)) AS paused,
    CASE WHEN e.most IS NOT NULL THEN
        (SELECT COUNT(*) FROM {p}job r FORCE INDEX ({p}job_running) WHERE r.running_of = e.task) END AS running,
    (SELECT {run_until} FROM {p}job j FORCE INDEX ({p}job_running)
     WHERE j.running_of = e.task AND j.lock_until IS NOT NULL AND {claimable} ORDER BY j.lock_until LIMIT 1) AS oldest,
    (SELECT {run_until} FROM {p}job j FORCE INDEX ({p}job_running)
     WHERE j.running_of = e.task AND j.lock_until IS NOT NULL AND {claimable} AND {renewed_until} <= j.lock_until
     ORDER BY j.lock_until LIMIT 1) AS unrenewed,
    (SELECT 1 FROM {p}job r FORCE INDEX ({p}job_parked_task) WHERE r.parked_of = e.task LIMIT 1) IS NOT NULL AS parked,
    (SELECT r.priority FROM {p}job r FORCE INDEX ({p}job_due)
     WHERE r.due_of = e.task ORDER BY r.priority DESC LIMIT 1) AS lane
FROM {tasks}";

/// And a list of tasks. The places that ended runs of theirs keep: the rest of an index is the holds that are over.
pub(super) const HOLDS: &str = "
SELECT r.held_of, r.hold_until FROM {p}job r FORCE INDEX ({p}job_hold) WHERE r.hold_until > {now} AND r.held_of IN ";

/// And [`RENEWED_OF`] for each task, with OR between them, [`RENEWED_EACH`] at the end. When the first of those runs expires that
/// would have done so before this instant, but for their renewals.
pub(super) const RENEWED: &str = "
SELECT j.running_of, MIN({until}) FROM {p}job j FORCE INDEX ({p}job_running)
    LEFT JOIN {p}heartbeat h ON h.job_id = j.id AND h.fence = j.fence
WHERE {claimable} AND (";

/// ?1 task, ?2 instant
pub(in crate::store::mysql) const RENEWED_OF: &str = "(j.running_of = ? AND j.lock_until < ?)";

pub(in crate::store::mysql) const RENEWED_EACH: &str = ") GROUP BY j.running_of";

/// One of a union: ?1 task, ?2 priority. The next lower one that waits.
pub(super) const NEXT_LANE: &str = "
(SELECT r.due_of, r.priority FROM {p}job r FORCE INDEX ({p}job_due)
 WHERE r.due_of = ? AND r.priority < ? ORDER BY r.priority DESC LIMIT 1)";

/// ?1 tasks and priorities. When the first row of each is due.
pub(super) const LANE_DUE: &str = "
SELECT e.task, e.lane, LEAST(GREATEST((SELECT j.due_at FROM {p}job j FORCE INDEX ({p}job_due)
    WHERE j.due_of = e.task AND j.priority = e.lane AND {claimable} ORDER BY j.due_at LIMIT 1), {first}), {last}) AS due
FROM {lanes}";

/// One of a union: ?1 task, ?2 priority, ?3 most. By when they are due.
pub(super) const SEEN: &str = "
(SELECT j.due_of, j.priority, {due} AS due FROM {p}job j FORCE INDEX ({p}job_due)
 WHERE j.due_of = ? AND j.priority = ? AND j.due_at <= {now} AND {claimable} ORDER BY j.due_at LIMIT ?)";

/// ?1 task, ?2 priority, ?3 most. Locked.
pub(super) const LOCK_DUE: &str = "
SELECT {claimed} FROM {p}job j FORCE INDEX ({p}job_due)
WHERE j.due_of = ? AND j.priority = ? AND j.due_at <= {now} AND {claimable}
ORDER BY j.due_at LIMIT ? FOR UPDATE SKIP LOCKED";

/// ?1 from how many crashes on a run is a suspect, ?2 whether suspects; and a list of tasks, [`THE_FIRST`] at the end. As far as
/// can be seen without a lock. Runs that are renewed are passed over.
pub(super) const EXPIRED: &str = "
SELECT j.id, j.lock_until FROM {p}job j FORCE INDEX ({p}job_running)
WHERE j.lock_until < {now} AND {claimable} AND (j.crashes >= ?) = ? AND {renewed_until} < {now} AND j.running_of IN ";

/// ?1 most
pub(in crate::store::mysql) const THE_FIRST: &str = " ORDER BY j.lock_until LIMIT ?";

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
