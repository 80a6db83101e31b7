//! Numbers for the fences of named leases.
//!
//! The server's next number outlives the rows, and a crash. So a row that was written to draw a number goes in the same transaction, in
//! the same message even: none is left for anybody to delete later. Each is deleted by its own number; a range would go
//! on to the next row, and wait for whoever has drawn that.

use sqlx::{MySqlConnection, Row};

use super::statements::Statements;

impl Statements {
    /// The first of so many numbers that follow one another. They are taken while the rows are locked, so that each is greater than
    /// the one before of its name.
    pub(super) async fn next_fence(
        &self,
        tx: &mut MySqlConnection,
        count: usize,
    ) -> Result<i64, sqlx::Error> {
        let rows = vec!["(NULL)"; count].join(", ");
        let places: Vec<usize> = (0..count).collect();
        let spent = self.spent_fences.with("").0;
        let spent = spent.replacen('?', &format!("'{places:?}'"), 1);
        let sql = self
            .next_fences
            .with(&format!("{rows}; {spent}; SELECT LAST_INSERT_ID()"));
        let first = sqlx::raw_sql(sql).fetch_one(tx).await?;
        let first: u64 = first.try_get(0)?;
        Ok(i64::try_from(first).unwrap_or(i64::MAX - 1))
    }
}
