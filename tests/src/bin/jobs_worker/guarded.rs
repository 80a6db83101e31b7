//! A job whose effect and end are one transaction.

use std::time::Duration;

use tasklock_runtime::{CommitError, LeaseContext, Payload, State, TaskResult, locked_task};

use crate::application::Application;

const WORK: Duration = Duration::from_millis(20);
/// The same text for both databases.
const EFFECT: &str = "INSERT INTO effect (job, number, fence) VALUES ($1, $2, $3)";

/// Works for a while; then its effect is there and the job is done, or neither.
#[locked_task(ttl = "3s", max_crashes = 1000, backoff = "100ms..200ms")]
async fn settle(
    lease: LeaseContext,
    number: Payload<i64>,
    application: State<Application>,
) -> TaskResult {
    tokio::time::sleep(WORK).await;
    // A conflict with another transaction is none of the job's failures.
    loop {
        match once(&lease, *number, &application).await {
            Err(CommitError::Retry(_)) => {}
            settled => return Ok(settled?),
        }
    }
}

async fn once(
    lease: &LeaseContext,
    number: i64,
    application: &Application,
) -> Result<(), CommitError> {
    let db = |error: sqlx::Error| CommitError::Db(error.into());
    let (job, fence) = (lease.job_id(), lease.fence());
    match application {
        Application::Postgres(pool) => {
            let mut tx = pool.begin().await.map_err(db)?;
            let effect = sqlx::query(EFFECT).bind(job).bind(number).bind(fence);
            effect.execute(&mut *tx).await.map_err(db)?;
            lease.complete_in(tx).await
        }
        Application::Sqlite(pool) => {
            let mut tx = pool.begin_with("BEGIN IMMEDIATE").await.map_err(db)?;
            let effect = sqlx::query(EFFECT).bind(job).bind(number).bind(fence);
            effect.execute(&mut *tx).await.map_err(db)?;
            lease.complete_in(tx).await
        }
    }
}
