//! Who has a key, seen in the application's own transaction.
//!
//! Nobody tells of what level that is: a level that was set for one transaction alone is not to be seen in the session. At SERIALIZABLE
//! a SELECT locks what it reads, and the gap where there is nothing, so that two who look for their keys and then write them end in a
//! deadlock; at REPEATABLE READ it shows how things were. A `HANDLER` reads without a lock at each level, and so it is used
//! for what has only to be seen. What it shows may have changed since the transaction's snapshot, so a row that it finds is no
//! evidence: it is read again, under a lock of that row alone.
//!
//! It is opened, read and closed in one message, so that a dropped future leaves none open; after an error it is closed by itself.
//!
//! `HANDLER` chooses no columns: each row that is found comes whole, with its payload.

use std::fmt::Write as _;

use sqlx::{Executor, MySqlConnection};

use super::column;
use super::statements::Statements;
use crate::store::NewJob;
use crate::store::sql::Written;

impl Statements {
    /// The jobs that have these keys, as far as the transaction sees.
    pub(super) async fn peek(
        &self,
        connection: &mut MySqlConnection,
        jobs: &[&NewJob],
    ) -> Result<Vec<Written>, sqlx::Error> {
        let mut reads = String::new();
        for job in jobs {
            let key = job.unique_key.as_deref().unwrap_or_default();
            let (task, key) = (literal(&job.task), literal(key));
            let read = self.peek_read.with(&format!("({task}, {key})"));
            let _ = write!(reads, "; {}", read.0);
        }
        let sql = self.peek_open.with(&format!("{reads}; {CLOSE}"));
        let rows = match connection.fetch_all(sqlx::raw_sql(sql)).await {
            Ok(rows) => rows,
            Err(error) => {
                let _ = connection.execute(sqlx::raw_sql(CLOSE)).await;
                return Err(error);
            }
        };
        let row = |row| {
            Ok((
                column(row, "id")?,
                column(row, "task")?,
                column(row, "unique_key")?,
            ))
        };
        rows.iter().map(row).collect()
    }
}

const CLOSE: &str = "HANDLER tasklock_peek CLOSE";

/// In digits: no `sql_mode` and no character set of the session gives it another meaning.
fn literal(text: &str) -> String {
    let mut literal = String::from("_utf8mb4 x'");
    for byte in text.bytes() {
        let _ = write!(literal, "{byte:02x}");
    }
    literal.push('\'');
    literal
}
