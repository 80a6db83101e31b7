//! What several statements say alike, so that no row, whoever wrote it, makes one of them fail: an error
//! in one row would be the end of all work, for every claim meets it again.
//!
//! SQLite holds a column to no type. It sorts numbers before texts, and those before blobs: an instant
//! that is no number is later than all.

use crate::store::LEASES;
use crate::store::sql::{FIRST, LAST};

/// What may be taken of each task that is not paused; no limit, no room.
const WANTED: &str = "w AS (
    SELECT value ->> 0 AS task, value ->> 1 AS queue, value ->> 3 AS most FROM json_each(?1)
), t AS MATERIALIZED (
    SELECT w.task, CASE WHEN w.most IS NOT NULL THEN w.most - (
        (SELECT count(*) FROM {p}job j WHERE j.state = 'running' AND j.task = w.task)
        + (SELECT count(*) FROM {p}job j WHERE j.task = w.task AND j.state <> 'running'
           AND j.hold_until > {now})) END AS room
    FROM w WHERE NOT EXISTS (SELECT 1 FROM {p}pause p
        WHERE (p.kind = 'task' AND p.name = w.task) OR (p.kind = 'queue' AND p.name = w.queue))
)";

/// The priorities that wait in each task, from the highest, and none at the end: a step of the index each.
const LANE: &str = "lane (task, room, priority) AS (
    SELECT t.task, t.room, (SELECT max(j.priority) FROM {p}job j
        WHERE j.state = 'ready' AND j.due_at IS NOT NULL AND j.task = t.task)
    FROM t WHERE t.room IS NULL OR t.room > 0
    UNION ALL
    SELECT lane.task, lane.room, (SELECT max(j.priority) FROM {p}job j
        WHERE j.state = 'ready' AND j.due_at IS NOT NULL AND j.task = lane.task
          AND j.priority < lane.priority)
    FROM lane WHERE lane.priority IS NOT NULL
)";

const TTL: &str = "(SELECT value ->> 2 FROM json_each(?1) WHERE value ->> 0 = task)";

const SUSPECT: &str =
    "({crashes} >= (SELECT value ->> 4 FROM json_each(?1) WHERE value ->> 0 = task))";

/// What a claim says of a row.
const CLAIMED: &str =
    "id, task, fence, attempt, {crashes} AS crashes, {refusals} AS refusals, payload,
    unique_key IS '' AS standing, {to_cancel} AS to_cancel, {due} AS due_at, {slot} AS slot_at, schedule, {begun_at} AS begun_at,
    {next_at} AS next_at, next_in, resource,
    {ranked} AS rank";

/// How a row is put aside until its resource is free.
const PARK: &str = "parked_due = coalesce(due_at, {now}), due_at = NULL,
    parked_rank = max(CAST(coalesce(due_at, {now}) AS INTEGER), {first}) - priority * 1000000";

const PARKED: &str = "state = 'ready' AND parked_rank IS NOT NULL";

/// Of the resources `n` that nobody holds or waits for: the first parked job of each task falls due again, unless one is due
/// already. More than one task may wait for a name, and one that is paused must not hold up the others.
const UNPARK: &str = "f (name) AS MATERIALIZED (
    SELECT n.name FROM n WHERE n.name IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM {p}job l WHERE l.task = '{leases}' AND l.unique_key = n.name
          AND l.state = 'running' AND l.lock_until >= {now})
      AND NOT EXISTS (SELECT 1 FROM {p}waiter w WHERE w.name = n.name AND w.alive_until > {now})
), g (name, task) AS (
    SELECT f.name, (SELECT min(task) FROM {p}job WHERE {parked} AND resource = f.name) FROM f
    UNION ALL
    SELECT g.name, (SELECT min(task) FROM {p}job
        WHERE {parked} AND resource = g.name AND task > g.task)
    FROM g WHERE g.task IS NOT NULL
)
UPDATE {p}job SET due_at = coalesce(due_at, parked_due), parked_due = NULL, parked_rank = NULL
WHERE id IN (
    SELECT (SELECT id FROM {p}job
        WHERE {parked} AND resource = g.name AND task = g.task AND {claimable}
        ORDER BY parked_rank LIMIT 1)
    FROM g WHERE g.task IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {p}job
        WHERE state = 'ready' AND resource = g.name AND task = g.task
          AND due_at IS NOT NULL AND due_at <= {now} AND {claimable}))";

/// ?1: the names that a call wants.
const ACQUIRES: &str = "(SELECT value ->> 0 AS name, value ->> 1 AS owner, value ->> 2 AS ttl,
        value ->> 3 AS next, value ->> 4 AS ticket, value ->> 5 AS before, value ->> 6 AS worker
    FROM json_each(?1))";

/// Nobody waits for the name `e`, or the first one has this ticket.
const FIRST_IN_LINE: &str = "coalesce((SELECT w.ticket FROM {p}waiter w
        WHERE w.name = e.name AND w.alive_until > {now} ORDER BY w.id LIMIT 1), e.ticket) IS e.ticket";

/// A standing job is never cancelled.
const TO_CANCEL: &str = "(cancelled_at IS NOT NULL AND unique_key IS NOT '')";

const TAKEN: &str = "ON CONFLICT (task, unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('ready', 'running')";

/// A run that begins has said nothing of its progress.
const UNSAID: &str = "progress_done = NULL, progress_total = NULL";

const BECOMES: &str =
    "CASE WHEN e.becomes = 'ready' AND {to_cancel} THEN 'cancelled' ELSE e.becomes END";

/// Until when a run keeps its place, counted from its start.
const HOLD: &str = "(min(max(CAST(claimed_at AS INTEGER), 0), {now}) + e.hold)";

/// The name ?1, or the present one where it is a former one.
const PRESENT: &str =
    "coalesce((SELECT a.task FROM {p}alias a WHERE a.name = ?1 AND a.served_until > {now}), ?1)";

/// The job `j` is no standing one, and could be one of the task ?2.
const NO_KEY_TAKEN: &str = "j.unique_key IS NOT '' AND NOT EXISTS (SELECT 1 FROM {p}job o
            WHERE o.task = ?2 AND o.unique_key = j.unique_key AND o.unique_key IS NOT NULL
            AND o.state IN ('ready', 'running'))";

/// Whether a start has changed what follows the run since it was claimed; and when it falls due next, by the row or by `e`.
/// Far instants are cut before anything is added to them.
const CHANGED: &str = "(({p}job.next_in IS NOT e.told_in OR {p}job.next_at IS NOT e.told_at)
            AND coalesce({p}job.next_at > {p}job.slot_at, 1))";
const NEXT_DUE: &str = "(CASE WHEN NOT {changed} THEN coalesce(e.next_at, {now} + e.next_in)
            WHEN coalesce({p}job.next_in, 0) < 0 THEN NULL
            WHEN {p}job.next_at IS NULL THEN {delayed}
            ELSE {next_at_kept} + coalesce(min({p}job.next_in, {last}), 0) END)";
const NEXT_AT_KEPT: &str = "min(max({p}job.next_at, {first}), {last})";
const DELAYED: &str = "{now} + min({p}job.next_in, {last})";

/// The parts in braces that are not names of tables.
pub(super) struct Fragments(Vec<(&'static str, String)>);

impl Fragments {
    pub(super) fn new() -> Self {
        // Those that are made of others come first.
        Self(vec![
            ("{wanted}", WANTED.to_owned()),
            ("{lane}", LANE.to_owned()),
            ("{claimed}", CLAIMED.to_owned()),
            ("{unpark}", UNPARK.to_owned()),
            ("{parked}", PARKED.to_owned()),
            ("{park}", PARK.to_owned()),
            ("{acquires}", ACQUIRES.to_owned()),
            ("{first_in_line}", FIRST_IN_LINE.to_owned()),
            ("{present}", PRESENT.to_owned()),
            ("{leases}", LEASES.to_owned()),
            ("{ttl}", TTL.to_owned()),
            ("{suspect}", SUSPECT.to_owned()),
            ("{becomes}", BECOMES.to_owned()),
            ("{to_cancel}", TO_CANCEL.to_owned()),
            ("{unsaid}", UNSAID.to_owned()),
            ("{taken}", TAKEN.to_owned()),
            ("{hold}", HOLD.to_owned()),
            ("{begun_at}", micros("begun_at")),
            (
                "{begins}",
                "CASE WHEN unique_key IS '' THEN coalesce(begun_at, {now}) END".to_owned(),
            ),
            ("{no_key_taken}", NO_KEY_TAKEN.to_owned()),
            ("{next_due}", NEXT_DUE.to_owned()),
            ("{changed}", CHANGED.to_owned()),
            ("{next_at_kept}", NEXT_AT_KEPT.to_owned()),
            ("{delayed}", DELAYED.to_owned()),
            ("{first}", FIRST.to_string()),
            ("{cancelled_keep}", "86400000000".to_owned()),
            ("{claimed_at}", micros("claimed_at")),
            ("{finished_at}", micros("finished_at")),
            ("{created_at}", micros("created_at")),
            ("{cancelled_at}", micros("cancelled_at")),
            ("{refusals}", count("refusals", i32::MAX)),
            (
                "{now}",
                // A query of its own is made once for a statement; an expression, for each row.
                "(SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000)".to_owned(),
            ),
            ("{due}", micros("due_at")),
            ("{slot}", micros("slot_at")),
            ("{hold_until}", micros("hold_until")),
            ("{next_at}", micros("next_at")),
            ("{missed}", slots("{p}job.missed")),
            ("{skipped}", slots("{p}job.skipped")),
            ("{last}", LAST.to_string()),
            (
                "{ranked}",
                format!("{} - priority * 1000000", micros("due_at")),
            ),
            ("{waits}", micros("coalesce(due_at, parked_due)")),
            ("{until}", micros("lock_until")),
            ("{event}", micros("min(at)")),
            // There is no fence after the last one, and none may be given out twice.
            (
                "{claimable}",
                format!("typeof(fence) = 'integer' AND fence < {}", i64::MAX),
            ),
            // No lease has this one.
            (
                "{fence}",
                "CASE typeof(fence) WHEN 'integer' THEN fence ELSE -1 END".to_owned(),
            ),
            ("{done}", progress("progress_done")),
            ("{total}", progress("progress_total")),
            ("{attempts}", count("attempt", i32::MAX)),
            ("{crashes}", count("crashes", i32::MAX)),
            (
                "{attempt_more}",
                format!("{} + 1", count("attempt", i32::MAX - 1)),
            ),
            (
                "{refusal_more}",
                format!("{} + 1", count("refusals", i32::MAX - 1)),
            ),
            (
                "{crash_more}",
                format!("{} + 1", count("crashes", i32::MAX - 1)),
            ),
        ])
    }

    pub(super) fn fill(&self, sql: &str) -> String {
        let fill = |sql: String, (name, part): &(&str, String)| sql.replace(name, part);
        self.0.iter().fold(sql.to_owned(), fill)
    }
}

/// An instant as an integer within bounds; NULL stays NULL.
fn micros(at: &str) -> String {
    format!("CAST(min(max({at}, {FIRST}), {LAST}) AS INTEGER)")
}

/// A number of the run that is under way; what is none is NULL, and so is that of a run which has ended.
fn progress(column: &str) -> String {
    format!("CASE WHEN state = 'running' AND typeof({column}) = 'integer' THEN {column} END")
}

/// A number of slots, to which another can be added.
fn slots(column: &str) -> String {
    format!(
        "min(max(CAST(coalesce({column}, 0) AS INTEGER), 0), {})",
        i64::MAX / 2
    )
}

/// A count as an integer, from zero to this number.
fn count(column: &str, most: i32) -> String {
    format!("min(max(CAST({column} AS INTEGER), 0), {most})")
}
