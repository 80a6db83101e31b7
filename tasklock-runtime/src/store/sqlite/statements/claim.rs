//! How work is taken, and when there will be some.
//!
//! Where ?1 is 'tasks' it is [[task, queue, ttl in µs, limit, suspect from], …].

/// ?1 tasks. What no claim takes is left out, or it would be asked for without a pause. Where a task is at its
/// limit, the next event is the end of a place's hold; the end of a run is seen, for it changes the file.
/// Whoever holds the resource of a parked job may have died: somebody has to look. (No join with the tasks: after an
/// ANALYZE that makes a Bloom filter of all rows.)
pub(super) const NEXT_EVENT: &str = "
WITH RECURSIVE {wanted}, {lane}
SELECT {now} AS now, (SELECT {event} FROM (
    SELECT (SELECT due_at FROM {p}job
        WHERE state = 'ready' AND due_at IS NOT NULL AND task = lane.task
          AND priority = lane.priority AND {claimable}
        ORDER BY due_at LIMIT 1) AS at FROM lane
    UNION ALL
    SELECT (SELECT min(j.hold_until) FROM {p}job j
        WHERE j.task = t.task AND j.hold_until > {now}) FROM t WHERE t.room <= 0
    UNION ALL
    SELECT min(lock_until) FROM {p}job
    WHERE state = 'running' AND {claimable} AND task IN (SELECT task FROM t)
    UNION ALL
    SELECT {now} + 1000000 WHERE EXISTS (SELECT 1 FROM {p}job
        WHERE {parked} AND task IN (SELECT task FROM t)))) AS at";

/// ?1 tasks. What may be taken of each task and priority, as far as something is due.
pub(super) const LANES: &str = "
WITH RECURSIVE {wanted}, {lane}
SELECT task, priority, room FROM lane WHERE priority IS NOT NULL";

/// ?1 task, ?2 priority, ?3 limit. Ordered by the column, as the index is, and by no result of the same name.
pub(super) const DUE: &str = "
SELECT id, {due} AS due FROM {p}job
WHERE state = 'ready' AND task = ?1 AND priority = ?2 AND due_at <= {now} AND {claimable}
ORDER BY due_at LIMIT ?3";

/// ?1 [[id, ttl in µs], …], ?2 token, ?3 worker
pub(super) const CLAIM_DUE: &str = "
UPDATE {p}job
SET state = 'running', lock_owner = ?2, lock_worker = ?3, fence = fence + 1,
    lock_until = {now} + e.ttl, attempt = {attempt_more}, claimed_at = {now}, begun_at = {begins}, {unsaid}
FROM (SELECT value ->> 0 AS job, value ->> 1 AS ttl FROM json_each(?1)) AS e
WHERE id = e.job
RETURNING {claimed}";

/// ?1 tasks, ?2 limit, ?3 most suspects. Rows whose lease has expired, and who had it.
pub(super) const EXPIRED: &str = "
WITH {wanted}
SELECT id, lock_owner FROM (
    SELECT id, lock_owner, lock_until, {suspect} AS suspect,
        row_number() OVER (PARTITION BY {suspect} ORDER BY lock_until) AS nth
    FROM {p}job
    WHERE state = 'running' AND lock_until < {now} AND {claimable}
      AND task IN (SELECT task FROM t))
WHERE NOT suspect OR nth <= ?3
ORDER BY lock_until LIMIT ?2";

/// ?1 tasks, ?2 ids, ?3 token, ?4 worker. They have expired: the write lock was taken before they were read.
pub(super) const TAKE_EXPIRED: &str = "
UPDATE {p}job
SET lock_owner = ?3, lock_worker = ?4, fence = fence + 1, lock_until = {now} + {ttl},
    attempt = {attempt_more}, crashes = {crash_more}, claimed_at = {now}, begun_at = {begins}, {unsaid}
WHERE id IN (SELECT value FROM json_each(?2))
RETURNING {claimed}";
