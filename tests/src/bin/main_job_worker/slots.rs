//! Runs that leave their traces in a table of the test's, by the store's clock.

use std::time::Duration;

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};
use tokio::sync::Mutex;

use crate::database::Database;
use crate::{nothing, say, url};

/// A connection of the handler's own, kept between runs.
static CONNECTION: Mutex<Option<Database>> = Mutex::const_new(None);

/// Writes its start, works for 50 ms, and writes its end.
#[locked_task(ttl = "5s", every = "200ms")]
async fn slots(lease: LeaseContext) -> TaskResult {
    let mut connection = CONNECTION.lock().await;
    let database = match &mut *connection {
        Some(database) => database,
        empty => empty.insert(Database::connect(&url()).await?),
    };
    let (fence, slot) = (lease.fence(), lease.scheduled_for().as_microsecond());
    let start = format!(
        "INSERT INTO run (fence, slot, worker, started) VALUES ({fence}, {slot}, {}, {{now}})",
        std::process::id()
    );
    database.run(&start).await?;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let end = format!("UPDATE run SET ended = {{now}} WHERE fence = {fence}");
    database.run(&end).await?;
    say("run", &lease, nothing());
    Ok(())
}

/// Does nothing, often.
#[locked_task(ttl = "5s", every = "200ms")]
async fn ticks(_lease: LeaseContext) {}
