//! Tells workers over the channel of work, at the commit of the transaction that says it.

use sqlx::PgConnection;

use super::statements::Statements;
use crate::store::Finish;
pub(super) use crate::store::announced::looked;
use crate::task::Then;

/// Wakes every worker that listens.
pub(super) async fn work(
    connection: &mut PgConnection,
    statements: &Statements,
) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_notify($1, '')")
        .bind(&statements.channel)
        .execute(connection)
        .await
        .map(|_| ())
}

/// Tells when the slots fall due that follow those of these ends which were written: who looks then need not have looked
/// before.
pub(super) async fn next_slots(
    connection: &mut PgConnection,
    statements: &Statements,
    ends: &[Finish],
    written: &[i64],
) -> Result<(), sqlx::Error> {
    let slots = ends.iter().filter(|end| matches!(end.then, Then::Slot(_)));
    let jobs = slots.map(|end| end.key.job);
    let jobs: Vec<i64> = jobs.filter(|job| written.contains(job)).collect();
    if jobs.is_empty() {
        return Ok(());
    }
    sqlx::query(&statements.tell_slots)
        .bind(&statements.channel)
        .bind(jobs)
        .fetch_all(connection)
        .await
        .map(|_| ())
}
