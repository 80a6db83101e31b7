//! What several statements say alike, so that no row, whoever wrote it, makes one of them fail: an error in one row would be the
//! end of all work, for every claim meets it again.
//!
//! `LEAST` and `GREATEST` are NULL if one of theirs is.

use super::Server;
use crate::store::LEASES;
use crate::store::sql::{FIRST, LAST};

/// How a row is put aside until its resource is free. In this order: an assignment sees those before it.
const PARK: &str =
    "parked_rank = LEAST(GREATEST(COALESCE(due_at, {now}), {first}), {last}) - priority * 1000000,
    parked_due = COALESCE(due_at, {now}), due_at = NULL";

const PARKED: &str = "j.state = 'ready' AND j.parked_rank IS NOT NULL";

/// A standing job is never cancelled.
const TO_CANCEL: &str = "(j.cancelled_at IS NOT NULL AND NOT (j.unique_key <=> ''))";

const BECOMES: &str =
    "CASE WHEN e.becomes = 'ready' AND {to_cancel} THEN 'cancelled' ELSE e.becomes END";

/// Until when a run keeps its place, counted from its start.
const HOLD: &str = "(LEAST(GREATEST(j.claimed_at, 0), {now}) + e.hold)";

/// Until when a run's renewals reach; before all time where it has none. A subquery that is asked row by row: with NOT EXISTS in its
/// place MariaDB reads all renewals of all runs.
const RENEWED_UNTIL: &str = "COALESCE((SELECT h.lock_until FROM {p}heartbeat h WHERE h.job_id = j.id AND h.fence = j.fence), {first})";

/// The name ?, or the present one where it is a former one; the parameter stands in it twice.
const PRESENT: &str =
    "COALESCE((SELECT a.task FROM {p}alias a WHERE a.name = ? AND a.served_until > {now}), ?)";

/// Whether a start has changed what follows the run since it was claimed; and when it falls due next, by the row or by `e`.
/// Far instants are cut before anything is added to them.
const CHANGED: &str = "(NOT (j.next_in <=> e.told_in AND j.next_at <=> e.told_at)
            AND COALESCE(j.next_at > j.slot_at, TRUE))";
const NEXT_DUE: &str = "(CASE WHEN NOT {changed} THEN COALESCE(e.next_at, {now} + e.next_in)
            WHEN COALESCE(j.next_in, 0) < 0 THEN NULL
            WHEN j.next_at IS NULL THEN {delayed}
            ELSE {next_at_kept} + COALESCE(LEAST(j.next_in, {last}), 0) END)";
const NEXT_AT_KEPT: &str = "LEAST(GREATEST(j.next_at, {first}), {last})";
const DELAYED: &str = "{now} + LEAST(j.next_in, {last})";

/// The parts in braces that are not names of tables.
pub(super) struct Fragments(Vec<(&'static str, String)>);

impl Fragments {
    pub(super) fn new(server: Server) -> Self {
        let shared = match server {
            Server::MariaDb => "LOCK IN SHARE MODE SKIP LOCKED",
            Server::MySql => "FOR SHARE SKIP LOCKED",
        };
        // Those that are made of others come first.
        Self(vec![
            ("{park}", PARK.to_owned()),
            ("{parked}", PARKED.to_owned()),
            ("{present}", PRESENT.to_owned()),
            ("{leases}", LEASES.to_owned()),
            ("{becomes}", BECOMES.to_owned()),
            ("{to_cancel}", TO_CANCEL.to_owned()),
            ("{hold}", HOLD.to_owned()),
            ("{next_due}", NEXT_DUE.to_owned()),
            ("{changed}", CHANGED.to_owned()),
            ("{next_at_kept}", NEXT_AT_KEPT.to_owned()),
            ("{delayed}", DELAYED.to_owned()),
            ("{cancelled_keep}", "86400000000".to_owned()),
            ("{due}", micros("j.due_at")),
            ("{slot}", micros("j.slot_at")),
            ("{begun_at}", micros("j.begun_at")),
            ("{hold_until}", micros("j.hold_until")),
            ("{next_at}", micros("j.next_at")),
            ("{waits}", micros("COALESCE(j.due_at, j.parked_due)")),
            (
                "{until}",
                micros("GREATEST(j.lock_until, COALESCE(h.lock_until, j.lock_until))"),
            ),
            ("{run_until}", micros("j.lock_until")),
            ("{renewed_until}", RENEWED_UNTIL.to_owned()),
            ("{claimed_at}", micros("j.claimed_at")),
            ("{finished_at}", micros("j.finished_at")),
            ("{created_at}", micros("j.created_at")),
            ("{cancelled_at}", micros("j.cancelled_at")),
            ("{missed}", slots("j.missed")),
            ("{skipped}", slots("j.skipped")),
            ("{attempt_more}", one_more("j.attempt")),
            ("{crash_more}", one_more("j.crashes")),
            ("{refusal_more}", one_more("j.refusals")),
            // There is no fence after the last one, and none may be given out twice.
            ("{claimable}", format!("j.fence < {}", i64::MAX)),
            (
                "{now}",
                "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))".to_owned(),
            ),
            ("{shared}", shared.to_owned()),
            ("{first}", FIRST.to_string()),
            ("{last}", LAST.to_string()),
            ("{ids}", json(&[("id", "BIGINT")]).replace("'$[0]'", "'$'")),
            (
                "{names}",
                json(&[("name", "VARCHAR(255)")]).replace("'$[0]'", "'$'"),
            ),
            (
                "{pairs}",
                json(&[("name", "VARCHAR(255)"), ("task", "VARCHAR(255)")]),
            ),
            (
                "{behind}",
                json(&[("id", "BIGINT"), ("name", "VARCHAR(255)")]),
            ),
            (
                "{keys}",
                json(&[
                    ("id", "BIGINT"),
                    ("fence", "BIGINT"),
                    ("owner", "VARCHAR(255)"),
                ]),
            ),
            (
                "{renewals}",
                json(&[
                    ("id", "BIGINT"),
                    ("fence", "BIGINT"),
                    ("owner", "VARCHAR(255)"),
                    ("ttl", "BIGINT"),
                    ("done", "BIGINT"),
                    ("total", "BIGINT"),
                ]),
            ),
            (
                "{tasks}",
                json(&[
                    ("task", "VARCHAR(255)"),
                    ("queue", "VARCHAR(255)"),
                    ("ttl", "BIGINT"),
                    ("most", "BIGINT"),
                    ("suspect", "BIGINT"),
                ]),
            ),
            (
                "{lanes}",
                json(&[("task", "VARCHAR(255)"), ("lane", "BIGINT")]),
            ),
            (
                "{takes}",
                json(&[("id", "BIGINT"), ("ttl", "BIGINT"), ("begun", "BIGINT")]),
            ),
            (
                "{acquires}",
                json(&[
                    ("id", "BIGINT"),
                    ("owner", "VARCHAR(255)"),
                    ("worker", "LONGTEXT"),
                    ("ttl", "BIGINT"),
                    ("fence", "BIGINT"),
                    ("name", "VARCHAR(255)"),
                ]),
            ),
            (
                "{ends}",
                json(&[
                    ("id", "BIGINT"),
                    ("fence", "BIGINT"),
                    ("owner", "VARCHAR(255)"),
                    ("next_at", "BIGINT"),
                    ("next_in", "BIGINT"),
                    ("outcome", "VARCHAR(255)"),
                    ("error", "LONGTEXT"),
                    ("becomes", "VARCHAR(10)"),
                    ("counts", "BIGINT"),
                    ("keep", "BIGINT"),
                    ("hold", "BIGINT"),
                    ("slot_at", "BIGINT"),
                    ("missed", "BIGINT"),
                    ("skipped", "BIGINT"),
                    ("told_at", "BIGINT"),
                    ("told_in", "BIGINT"),
                ]),
            ),
            (
                "{ended}",
                json(&[
                    ("id", "BIGINT"),
                    ("outcome", "VARCHAR(255)"),
                    ("error", "LONGTEXT"),
                    ("state", "VARCHAR(10)"),
                    ("attempt", "BIGINT"),
                    ("crashes", "BIGINT"),
                    ("refusals", "BIGINT"),
                    ("hold_until", "BIGINT"),
                    ("due_at", "BIGINT"),
                    ("slot_at", "BIGINT"),
                    ("begun_at", "BIGINT"),
                    ("again", "BIGINT"),
                    ("missed", "BIGINT"),
                    ("skipped", "BIGINT"),
                    ("next_at", "BIGINT"),
                    ("next_in", "BIGINT"),
                    ("prune_at", "BIGINT"),
                ]),
            ),
            ("{bin}", server.dialect().collation().to_owned()),
        ])
    }

    pub(super) fn fill(&self, sql: &str) -> String {
        let fill = |sql: String, (name, part): &(&str, String)| sql.replace(name, part);
        self.0.iter().fold(sql.to_owned(), fill)
    }
}

/// A parameter with an array of arrays, as the table `e`.
fn json(columns: &[(&str, &str)]) -> String {
    let columns: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(nth, (name, kind))| {
            let text = if *kind == "BIGINT" {
                ""
            } else {
                "CHARACTER SET utf8mb4 COLLATE {bin}"
            };
            format!("{name} {kind} {text} PATH '$[{nth}]'")
        })
        .collect();
    format!(
        "JSON_TABLE(?, '$[*]' COLUMNS ({})) AS e",
        columns.join(", ")
    )
}

/// An instant within bounds; NULL stays NULL.
fn micros(at: &str) -> String {
    format!("LEAST(GREATEST({at}, {FIRST}), {LAST})")
}

/// A number of slots, to which another can be added.
fn slots(column: &str) -> String {
    format!(
        "LEAST(GREATEST(COALESCE({column}, 0), 0), {})",
        i64::MAX / 2
    )
}

/// A count that stops at the last number, and starts from zero.
fn one_more(count: &str) -> String {
    format!("LEAST(GREATEST({count}, 0), {}) + 1", i32::MAX - 1)
}
