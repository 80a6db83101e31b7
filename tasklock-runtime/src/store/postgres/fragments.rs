//! What several statements say alike, so that no row, whoever wrote it, makes one of them fail: an error
//! in one row would be the end of all work, for every claim meets it again.

use crate::store::sql::{FIRST, LAST};
use crate::store::{LEASES, PATIENCE};

/// $1 tasks, $2 queues, $3 limits: what may be taken of each task that is not paused; no limit, no room.
const WANTED: &str = "t AS MATERIALIZED (
    SELECT w.task, CASE WHEN w.most IS NOT NULL THEN w.most - (
        (SELECT count(*) FROM {s}{p}job j WHERE j.state = 'running' AND j.task = w.task)
        + (SELECT count(*) FROM {s}{p}job j WHERE j.task = w.task AND j.state <> 'running'
           AND j.hold_until > statement_timestamp())) END AS room
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS w(task, queue, most)
    WHERE {unpaused}
)";

/// The priorities that wait in each task, from the highest: a step of the index each.
const LANE: &str = "lane AS (
    SELECT f.* FROM (SELECT t.task, t.room, (SELECT j.priority FROM {s}{p}job j
        WHERE j.state = 'ready' AND j.due_at IS NOT NULL AND j.task = t.task
        ORDER BY j.priority DESC LIMIT 1) AS priority FROM t
        WHERE t.room IS NULL OR t.room > 0) f
    WHERE f.priority IS NOT NULL
    UNION ALL
    SELECT n.* FROM (SELECT l.task, l.room, (SELECT j.priority FROM {s}{p}job j
        WHERE j.state = 'ready' AND j.due_at IS NOT NULL AND j.task = l.task
          AND j.priority < l.priority
        ORDER BY j.priority DESC LIMIT 1) AS priority FROM lane l) n
    WHERE n.priority IS NOT NULL
)";

const UNPAUSED: &str = "NOT EXISTS (SELECT FROM {s}{p}pause p
        WHERE (p.kind = 'task' AND p.name = w.task) OR (p.kind = 'queue' AND p.name = w.queue))";

/// As far as can be seen without a lock.
const EXPIRED: &str = "j.state = 'running' AND j.lock_until < statement_timestamp()
      AND j.task = ANY($1::text[]) AND {claimable}
      AND NOT EXISTS (SELECT FROM {s}{p}heartbeat h
          WHERE h.job_id = j.id AND h.fence = j.fence AND h.lock_until >= statement_timestamp())";

/// What a claim says of a row. Instants as they are: to make numbers of them takes the server as long as to find the row.
const CLAIMED: &str = "j.id, j.task, j.fence, j.attempt, greatest(j.crashes, 0) AS crashes,
    greatest(j.refusals, 0) AS refusals, j.payload, j.unique_key IS NOT DISTINCT FROM '' AS standing,
    {to_cancel} AS to_cancel, j.due_at, j.slot_at, j.schedule,
    j.begun_at, j.next_at, j.next_in, j.priority, j.resource, clock_timestamp() AS now";

/// How the row `j` becomes the lease of `k`.
const ACQUIRED: &str = "state = 'running', lock_owner = k.owner, lock_worker = k.worker,
    lock_until = clock_timestamp() + k.ttl * interval '1 microsecond',
    fence = greatest(j.fence + 1, nextval('{s}{p}lease_fence')), attempt = 1, crashes = 0,
    claimed_at = clock_timestamp(), cancelled_at = NULL, prune_at = NULL";

/// How the row `j` is put aside until its resource is free.
const PARK: &str = "parked_due = coalesce(j.due_at, clock_timestamp()), due_at = NULL,
    parked_rank = least(greatest(coalesce(j.due_at, clock_timestamp()), {first}), {last})
        - j.priority * interval '1 second'";

const PARKED: &str = "j.state = 'ready' AND j.parked_rank IS NOT NULL";

/// Of the resources `n` that nobody holds or waits for: the first parked job of each task falls due again, unless one is due
/// already. More than one task may wait for a name, and one that is paused must not hold up the others.
const UNPARK: &str = "f AS MATERIALIZED (
    SELECT n.name FROM n WHERE n.name IS NOT NULL AND NOT EXISTS (
        SELECT FROM {s}{p}job l LEFT JOIN {s}{p}heartbeat h ON h.job_id = l.id AND h.fence = l.fence
        WHERE l.task = '{leases}' AND l.unique_key = n.name AND l.state = 'running'
          AND (l.lock_until >= statement_timestamp() OR h.lock_until >= statement_timestamp()))
      AND NOT EXISTS (SELECT FROM {s}{p}waiter w
          WHERE w.name = n.name AND w.alive_until > statement_timestamp())
), g(name, task) AS (
    SELECT f.name, (SELECT j.task FROM {s}{p}job j WHERE {parked} AND j.resource = f.name
        ORDER BY j.task LIMIT 1) FROM f
    UNION ALL
    SELECT g.name, (SELECT j.task FROM {s}{p}job j WHERE {parked} AND j.resource = g.name
        AND j.task > g.task ORDER BY j.task LIMIT 1) FROM g WHERE g.task IS NOT NULL
), k AS MATERIALIZED (
    SELECT u.id FROM g CROSS JOIN LATERAL (SELECT j.id FROM {s}{p}job j
        WHERE {parked} AND j.resource = g.name AND j.task = g.task AND {claimable}
        ORDER BY j.parked_rank LIMIT 1 FOR UPDATE SKIP LOCKED) u
    WHERE g.task IS NOT NULL AND NOT EXISTS (SELECT FROM {s}{p}job d
        WHERE d.state = 'ready' AND d.resource = g.name AND d.task = g.task
          AND d.due_at <= statement_timestamp() AND d.fence < {last_fence})
), u AS (
    UPDATE {s}{p}job j SET due_at = coalesce(j.due_at, j.parked_due), parked_due = NULL,
        parked_rank = NULL
    FROM k WHERE j.id = k.id RETURNING j.id
)";

/// Tells of the names `n`, and of the work that was unparked. `WITH` answers it in full, whatever is asked of it.
const TOLD: &str = "t AS MATERIALIZED (
    SELECT pg_notify($2, coalesce('t' || (SELECT x.ticket FROM ({first_in_line}) x), 'n' || a.name))::text
    FROM n a WHERE a.name IS NOT NULL
), m AS MATERIALIZED (
    SELECT pg_notify($3, '')::text FROM (SELECT count(*) AS due FROM u) x WHERE x.due > 0
)
SELECT (SELECT count(*) FROM t) + (SELECT count(*) FROM m)";

/// The row `j` of the lease `e`, by its id: where the state is compared as it stands, a planner with few statistics reads
/// all rows that are running for each of the leases.
const HELD: &str = "j.id = e.id AND e.fence = j.fence AND e.owner = j.lock_owner
            AND coalesce(j.state, '') = 'running'";

/// The row of the name `o`. A subquery of its own for each: a join with few statistics reads the rows of all names.
const NAMED: &str = "SELECT j.id FROM {s}{p}job j
        WHERE j.task = '{leases}' AND j.unique_key = o.name AND j.state IN ('ready', 'running')";

/// Of the names `a`, who is first in the line.
const FIRST_IN_LINE: &str = "SELECT w.ticket, w.alive_until FROM {s}{p}waiter w
        WHERE w.name = a.name AND w.alive_until > statement_timestamp() ORDER BY w.id LIMIT 1";

/// A standing job is never cancelled.
const TO_CANCEL: &str = "(j.cancelled_at IS NOT NULL AND j.unique_key IS DISTINCT FROM '')";

const TAKEN: &str = "ON CONFLICT (task, unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('ready', 'running')";

/// Until when a run keeps its place, counted from its start.
const HOLD: &str = "(greatest(least(j.claimed_at, clock_timestamp()), timestamptz 'epoch')
        + k.hold * interval '1 microsecond')";

/// How the row `j` of a run ends as `k` says. `k.counts`: 0, attempts start anew; 1, this one counts; 2, it does
/// not; 3, it was a refusal. `k.now` is one reading of the clock: a slot is not later than its run's due time.
const ENDED: &str = "state = k.state, lock_owner = NULL, lock_worker = NULL, lock_until = NULL,
    attempt = CASE k.counts WHEN 0 THEN 0 WHEN 1 THEN j.attempt ELSE greatest(j.attempt, 1) - 1 END,
    crashes = CASE k.counts WHEN 0 THEN 0 ELSE j.crashes END,
    refusals = CASE k.counts WHEN 0 THEN 0 WHEN 3 THEN {refusal_more} ELSE j.refusals END,
    finished_at = clock_timestamp(), last_outcome = k.outcome, last_error = k.error,
    hold_until = CASE WHEN {hold} > clock_timestamp() THEN {hold} END,
    due_at = CASE WHEN k.state <> 'ready' THEN j.due_at
        WHEN k.counts <> 0 THEN greatest(k.now + k.next_in * interval '1 microsecond', {hold})
        WHEN j.again THEN greatest(least({next_due}, k.now), {hold})
        WHEN {next_due} IS NOT NULL THEN greatest({next_due}, {hold}) END,
    slot_at = CASE WHEN k.counts <> 0 OR k.state <> 'ready'
        THEN coalesce(timestamptz 'epoch' + k.slot_at * interval '1 microsecond', j.slot_at)
        WHEN {changed} THEN CASE WHEN coalesce(j.next_in, 0) >= 0 THEN coalesce({next_at_kept}, {delayed}) END
        ELSE coalesce(timestamptz 'epoch' + k.slot_at * interval '1 microsecond',
            k.now + k.next_in * interval '1 microsecond') END,
    begun_at = CASE WHEN k.counts <> 0 THEN j.begun_at END,
    again = CASE WHEN k.counts <> 0 THEN j.again END,
    missed = CASE k.missed WHEN 0 THEN j.missed ELSE {missed_more} END,
    skipped = CASE k.skipped WHEN 0 THEN j.skipped ELSE {skipped_more} END,
    next_at = CASE WHEN k.counts <> 0 THEN j.next_at END,
    next_in = CASE WHEN k.counts <> 0 THEN j.next_in END,
    prune_at = CASE WHEN k.state <> 'ready' OR j.task = '{leases}' THEN greatest(clock_timestamp()
        + coalesce(k.keep * interval '1 microsecond', {cancelled_keep}), {hold}) END";

/// The job `j` is no standing one, and could be one of the task $2.
const NO_KEY_TAKEN: &str =
    "j.unique_key IS DISTINCT FROM '' AND NOT EXISTS (SELECT FROM {s}{p}job o
            WHERE o.task = $2 AND o.unique_key = j.unique_key AND o.state IN ('ready', 'running'))";

/// Whether a start has changed what follows the run `j` since it was claimed; and when it falls due next, by the row or by `k`.
/// Far instants are cut before anything is added to them.
const CHANGED: &str = "((j.next_in IS DISTINCT FROM k.told_in
            OR j.next_at IS DISTINCT FROM timestamptz 'epoch' + k.told_at * interval '1 microsecond')
            AND (j.next_at <= j.slot_at) IS NOT TRUE)";
const NEXT_DUE: &str = "(CASE WHEN NOT {changed} THEN greatest(timestamptz 'epoch' + k.next_at * interval '1 microsecond',
                k.now + k.next_in * interval '1 microsecond')
            WHEN coalesce(j.next_in, 0) < 0 THEN NULL
            WHEN j.next_at IS NULL THEN {delayed}
            ELSE {next_at_kept} + least(coalesce(j.next_in, 0), {last_micros}) * interval '1 microsecond' END)";
const NEXT_AT_KEPT: &str =
    "CASE WHEN j.next_at IS NOT NULL THEN least(greatest(j.next_at, {first}), {last}) END";
const DELAYED: &str =
    "k.now + least(coalesce(j.next_in, 0), {last_micros}) * interval '1 microsecond'";

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
            ("{told}", TOLD.to_owned()),
            ("{parked}", PARKED.to_owned()),
            (
                "{patient}",
                format!("{} - {{now}}", micros("f.alive_until")),
            ),
            ("{first_in_line}", FIRST_IN_LINE.to_owned()),
            (
                "{patience}",
                format!("interval '{} milliseconds'", PATIENCE.as_millis()),
            ),
            ("{park}", PARK.to_owned()),
            ("{ended}", ENDED.to_owned()),
            (
                "{begins}",
                "CASE WHEN j.unique_key = '' THEN coalesce(j.begun_at, clock_timestamp()) END"
                    .to_owned(),
            ),
            ("{no_key_taken}", NO_KEY_TAKEN.to_owned()),
            ("{next_due}", NEXT_DUE.to_owned()),
            ("{changed}", CHANGED.to_owned()),
            ("{next_at_kept}", NEXT_AT_KEPT.to_owned()),
            ("{delayed}", DELAYED.to_owned()),
            ("{missed_more}", more("missed")),
            ("{skipped_more}", more("skipped")),
            ("{acquired}", ACQUIRED.to_owned()),
            ("{named}", NAMED.to_owned()),
            ("{held}", HELD.to_owned()),
            ("{leases}", LEASES.to_owned()),
            ("{unpaused}", UNPAUSED.to_owned()),
            ("{expired}", EXPIRED.to_owned()),
            ("{to_cancel}", TO_CANCEL.to_owned()),
            ("{taken}", TAKEN.to_owned()),
            ("{hold}", HOLD.to_owned()),
            ("{cancelled_keep}", "interval '1 day'".to_owned()),
            ("{claimed_at}", micros("j.claimed_at")),
            ("{finished_at}", micros("j.finished_at")),
            ("{created_at}", micros("j.created_at")),
            ("{cancelled_at}", micros("j.cancelled_at")),
            // No instant is too early to take the priority from.
            (
                "{rank}",
                format!(
                    "greatest(j.due_at, to_timestamp({})) - j.priority * interval '1 second'",
                    FIRST / 1_000_000
                ),
            ),
            ("{refusal_more}", one_more("j.refusals")),
            (
                "{now}",
                "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint".to_owned(),
            ),
            (
                "{asked}",
                "(extract(epoch FROM statement_timestamp()) * 1000000)::bigint".to_owned(),
            ),
            ("{due}", micros("j.due_at")),
            ("{slot}", micros("j.slot_at")),
            ("{hold_until}", micros("j.hold_until")),
            ("{next_at}", micros("j.next_at")),
            ("{waits}", micros("coalesce(j.due_at, j.parked_due)")),
            ("{until}", micros("greatest(j.lock_until, h.lock_until)")),
            ("{event}", micros("e.at")),
            ("{last_micros}", LAST.to_string()),
            ("{first}", format!("to_timestamp({})", FIRST / 1_000_000)),
            ("{last}", format!("to_timestamp({})", LAST / 1_000_000)),
            // There is no fence after the last one, and none may be given out twice.
            ("{claimable}", format!("j.fence < {}", i64::MAX)),
            ("{last_fence}", i64::MAX.to_string()),
            ("{attempt_more}", one_more("j.attempt")),
            ("{crash_more}", one_more("j.crashes")),
            // A side row of a fence that is only now given out, or of a later one, is nobody's renewal: it
            // would refuse those to come, or pass for one. `c` has locked the job, so nobody renews.
            (
                "{stray}",
                "s AS (
    DELETE FROM {s}{p}heartbeat h USING c
    WHERE h.job_id = c.id AND h.job_id = ANY(ARRAY(SELECT c.id FROM c)) AND h.fence >= c.fence
      AND EXISTS (SELECT FROM {s}{p}heartbeat)
)"
                .to_owned(),
            ),
        ])
    }

    pub(super) fn fill(&self, sql: &str) -> String {
        let fill = |sql: String, (name, part): &(&str, String)| sql.replace(name, part);
        self.0.iter().fold(sql.to_owned(), fill)
    }
}

/// An instant in microseconds. Infinity, and years that do not fit in a `bigint`, are cut to what does.
fn micros(at: &str) -> String {
    let [first, last] = [FIRST, LAST].map(|at| format!("to_timestamp({})", at / 1_000_000));
    format!(
        "(CASE WHEN {at} < {first} THEN {FIRST} WHEN {at} > {last} THEN {LAST} \
         ELSE (extract(epoch FROM {at}) * 1000000)::bigint END)"
    )
}

/// A sum that stops at the last number.
fn more(column: &str) -> String {
    format!(
        "least(greatest(coalesce(j.{column}, 0), 0), {} - k.{column}) + k.{column}",
        i64::MAX
    )
}

/// A count that stops at the last number, and starts from zero.
fn one_more(count: &str) -> String {
    format!("least(greatest({count}, 0), {}) + 1", i32::MAX - 1)
}
