//! Standing jobs, and tasks that have had other names.

/// Starts exclude each other, by the row of a task that nobody can have: that of the store is read by whoever enqueues in a transaction of
/// the application's, which at SERIALIZABLE locks it.
pub(super) const LOCK_STARTS: &str = "SELECT task FROM {p}limited WHERE task = '' FOR UPDATE";

/// ?1 task
pub(super) const STANDING: &str = "
SELECT j.id, j.state = 'running' AS running, j.schedule, j.resource, {waits} AS due_at, {slot} AS slot_at,
    j.parked_rank IS NOT NULL AS parked, j.attempt, {hold_until} AS hold_until, {next_at} AS next_at, j.next_in,
    j.begun_at IS NOT NULL AS begun, COALESCE(j.again, FALSE) AS again, j.versions
FROM {p}job j FORCE INDEX ({p}job_standing) WHERE j.standing_of = ? ORDER BY j.id LIMIT 1";

/// ?1 task, ?2 schedule, ?3 due, ?4 resource, ?5 slot, ?6 version. Starts exclude each other, but somebody may insert one by hand.
pub(super) const DECLARE: &str = "
INSERT IGNORE INTO {p}job (task, unique_key, schedule, due_at, resource, slot_at, versions, created_at)
VALUES (?, '', ?, ?, ?, ?, ?, {now})";

/// ?1 schedule, ?2 resource, ?3 whether it stays parked, ?4 due, ?5 slot, ?6 and ?7 what follows the run, ?8 versions, ?9
/// whether it falls due again, ?10 to ?13 whether it is another slot, ?14 and ?15 as ?3, ?16 id.
pub(super) const REDECLARE: &str = "
UPDATE {p}job SET schedule = ?, resource = ?, due_at = CASE WHEN ? THEN due_at ELSE ? END, slot_at = ?,
    next_at = ?, next_in = ?, versions = ?, again = NULLIF(?, FALSE),
    begun_at = CASE WHEN NOT ? THEN begun_at END, attempt = CASE WHEN ? THEN 0 ELSE attempt END,
    crashes = CASE WHEN ? THEN 0 ELSE crashes END, refusals = CASE WHEN ? THEN 0 ELSE refusals END,
    parked_due = CASE WHEN ? THEN parked_due END, parked_rank = CASE WHEN ? THEN parked_rank END
WHERE id = ?";

/// ?1 tasks
pub(super) const UNDECLARED: &str = "
SELECT e.name FROM {names}
WHERE (SELECT 1 FROM {p}job j FORCE INDEX ({p}job_standing) WHERE j.standing_of = e.name LIMIT 1) IS NULL
  AND (SELECT 1 FROM {p}alias a WHERE a.name = e.name AND a.served_until > {now}) IS NULL";

/// ?1 name. The present one, if it is a former one, and whether that is served.
pub(super) const ALIASED: &str =
    "SELECT task, served_until > {now} AS served FROM {p}alias WHERE name = ?";

/// ?1 name, ?2 how long in µs, ?3 former name, ?4 name, ?5 and ?6 the same. What was the former one's own, and this one's.
pub(super) const REALIAS: &str = "
UPDATE {p}alias SET task = ?, served_until = {now} + ? WHERE task IN (?, ?) AND name NOT IN (?, ?)";

/// ?1 former name, ?2 name, ?3 how long in µs
pub(super) const ALIAS: &str = "
INSERT INTO {p}alias (name, task, served_until) VALUES (?, ?, {now} + ?)
ON DUPLICATE KEY UPDATE task = VALUES(task), served_until = VALUES(served_until)";

/// ?1 name, which is no former one any more.
pub(super) const UNALIAS: &str = "DELETE FROM {p}alias WHERE name = ?";

/// ?1 names, ?2 task, ?3 how long in µs. Whether one of them is no former one of this task, or will not be known as one for
/// long.
pub(super) const LAPSING: &str = "
SELECT COUNT(*) > 0 FROM {names}
WHERE NOT EXISTS (SELECT 1 FROM {p}alias a
    WHERE a.name = e.name AND a.task = ? AND a.served_until > {now} + ?)";

/// ?1 former names. Those under which something is left: a pause, a standing job, a job that waits or runs.
pub(super) const LEFT_OVER: &str = "
SELECT e.name FROM {names}
WHERE COALESCE((SELECT 1 FROM {p}pause p WHERE p.kind = 'task' AND p.name = e.name),
    (SELECT 1 FROM {p}job j FORCE INDEX ({p}job_standing) WHERE j.standing_of = e.name LIMIT 1),
    (SELECT 1 FROM {p}job j FORCE INDEX ({p}job_due) WHERE j.due_of = e.name LIMIT 1),
    (SELECT 1 FROM {p}job j FORCE INDEX ({p}job_running) WHERE j.running_of = e.name LIMIT 1),
    (SELECT 1 FROM {p}job j FORCE INDEX ({p}job_parked_task) WHERE j.parked_of = e.name LIMIT 1)) IS NOT NULL";

/// One of a union, for each way to be found: ?1 former name, ?2 name, ?3 most. Jobs that wait or run, but for those whose key is
/// taken: as far as can be seen without a lock.
const FORMER: &str = "
(SELECT j.id FROM {p}job j FORCE INDEX ({index})
 WHERE j.{column} = ? AND NOT (j.unique_key <=> '')
   AND (SELECT 1 FROM {p}job o FORCE INDEX ({p}job_key) WHERE o.task = ? AND o.live_key = j.unique_key) IS NULL
 LIMIT ?)";

/// How many parts it has; each has the parameters of one.
pub(in crate::store::mysql) const FORMER_PARTS: usize = 3;

pub(super) fn former() -> String {
    let parts: [(&str, &str); FORMER_PARTS] = [
        ("{p}job_due", "due_of"),
        ("{p}job_running", "running_of"),
        ("{p}job_parked_task", "parked_of"),
    ];
    let part = |(index, column)| FORMER.replace("{index}", index).replace("{column}", column);
    parts.map(part).join(" UNION ALL ")
}

/// ?1 ids, ?2 former name
pub(super) const LOCK_FORMER: &str = "
SELECT j.id FROM {ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id
WHERE j.task = ? AND j.state IN ('ready', 'running') FOR UPDATE SKIP LOCKED";

/// ?1 ids, which are locked, ?2 name
pub(super) const RENAME_JOBS: &str = "
UPDATE {ids} STRAIGHT_JOIN {p}job j FORCE INDEX (PRIMARY) ON j.id = e.id SET j.task = ?";

/// ?1 name, ?2 former name. What was paused is, under the new name.
pub(super) const RENAME_PAUSE: &str =
    "UPDATE IGNORE {p}pause SET name = ? WHERE kind = 'task' AND name = ?";

/// ?1 former name, which is paused no more by itself.
pub(super) const DROP_PAUSE: &str = "DELETE FROM {p}pause WHERE kind = 'task' AND name = ?";

/// ?1 name, ?2 id. The row itself, whoever runs it: the lease on it goes on.
pub(super) const RENAME: &str = "UPDATE {p}job SET task = ? WHERE id = ?";

/// ?1 id. A row of the former name beside the one of the present name, which an old version has made again.
pub(super) const DROP_FORMER: &str = "DELETE FROM {p}job WHERE id = ? AND state = 'ready'";
