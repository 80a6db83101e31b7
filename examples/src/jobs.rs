//! Triggers a task and waits for its run, as a script or a deploy hook does.
//!
//! Which worker makes the run is not known beforehand, so its end is read from the database: from the
//! runtime's own table, since `Client` does not read jobs as yet.

use std::time::Duration;

use sqlx::{AnyPool, Row};
use tasklock_runtime::{BoxError, Client, Triggered};

const POLL: Duration = Duration::from_millis(20);

/// Makes the task due now, and waits until a run that was not over at this call has ended. The inner
/// result is the run's: its error as it is stored.
///
/// # Errors
///
/// The database does not answer.
pub async fn trigger_and_wait(
    client: &Client,
    pool: &AnyPool,
    task: &str,
) -> Result<Result<(), String>, BoxError> {
    let before = fence(pool, task).await?;
    let first = match client.trigger(task).await? {
        Triggered::AlreadyRunning => before,
        _ => before + 1,
    };
    loop {
        let ended = sqlx::query(
            "SELECT last_outcome, last_error FROM tasklock_job \
             WHERE task = $1 AND state = 'ready' AND fence >= $2",
        )
        .bind(task)
        .bind(first)
        .fetch_optional(pool)
        .await?;
        match ended {
            Some(row) if row.get::<String, _>(0) == "succeeded" => return Ok(Ok(())),
            Some(row) => return Ok(Err(row.get(1))),
            None => tokio::time::sleep(POLL).await,
        }
    }
}

/// The fence of the latest run; 0 before the first.
async fn fence(pool: &AnyPool, task: &str) -> Result<i64, BoxError> {
    let fence = sqlx::query_scalar("SELECT fence FROM tasklock_job WHERE task = $1")
        .bind(task)
        .fetch_optional(pool)
        .await?;
    Ok(fence.unwrap_or(0))
}
