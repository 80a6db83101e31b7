//! What several statements say alike, so that no row, whoever wrote it, makes one of them fail: an error
//! in one row would be the end of all work, for every claim meets it again.
//!
//! SQLite holds a column to no type. It sorts numbers before texts, and those before blobs: an instant
//! that is no number is later than all.

use crate::store::sql::{FIRST, LAST};

/// The parts in braces that are not names of tables.
pub(super) struct Fragments([(&'static str, String); 10]);

impl Fragments {
    pub(super) fn new() -> Self {
        Self([
            (
                "{now}",
                "CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000".to_owned(),
            ),
            ("{due}", micros("due_at")),
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
            ("{attempts}", count("attempt", i32::MAX)),
            ("{crashes}", count("crashes", i32::MAX)),
            (
                "{attempt_more}",
                format!("{} + 1", count("attempt", i32::MAX - 1)),
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

/// A count as an integer, from zero to this number.
fn count(column: &str, most: i32) -> String {
    format!("min(max(CAST({column} AS INTEGER), 0), {most})")
}
