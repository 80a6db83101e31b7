//! Effects in a database that is not the leases': each registers its fence there first, which the table refuses once
//! a greater one has been registered. So what is under way may still come after another owner's claim, and never
//! after its effect.

use sqlx::sqlite::SqlitePool;
use tasklock_runtime::{CommitError, FenceError, LeaseContext, LeaseLost, fence_table};

use super::command::at;
use super::{mistake, names};

/// The file, where the test names one.
pub(super) fn url() -> Option<String> {
    std::env::var("FAULT_EFFECTS").ok()
}

/// One transaction of effects, each of which is a job, or nothing and a name, with its fence.
pub(super) async fn written_elsewhere(
    pool: &SqlitePool,
    lease: &LeaseContext,
    effects: &[(i64, i64, Option<&str>)],
) -> Result<(), CommitError> {
    let db = |error: sqlx::Error| CommitError::Db(error.into());
    at("guard to be sent");
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await.map_err(db)?;
    let owner = lease.owner().as_str();
    // A name that is taken by hand is the same that jobs take.
    let own = match names::number(lease.task()) {
        Some(_) => lease.task().to_owned(),
        None => format!("job {}", lease.job_id()),
    };
    let registers = !mistake::is("effects do not register their fence");
    for (_, fence, name) in effects.iter().filter(|_| registers) {
        let registered = fence_table(&mut tx, name.unwrap_or(&own), *fence).await;
        registered.map_err(|error| match error {
            FenceError::Stale { .. } => CommitError::Lost(LeaseLost::TakenOver),
            FenceError::Retry(why) => CommitError::Retry(why),
            error => CommitError::Db(error.into()),
        })?;
    }
    at("guard held");
    for (job, fence, name) in effects {
        let insert =
            sqlx::query("INSERT INTO effect (job, fence, owner, name) VALUES (?, ?, ?, ?)")
                .bind(job)
                .bind(fence)
                .bind(owner)
                .bind(name);
        insert.execute(&mut *tx).await.map_err(db)?;
    }
    at("effect written");
    tx.commit().await.map_err(db)?;
    at("guarded transaction committed");
    Ok(())
}
