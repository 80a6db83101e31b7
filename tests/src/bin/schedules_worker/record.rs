//! Runs leave a row each in a table of the test's.

use tasklock_runtime::{LeaseContext, TaskResult};
use tasklock_tests::stage::{database::Database, nothing, say, url};
use tokio::sync::Mutex;

/// A connection of the handlers' own, kept between runs.
static CONNECTION: Mutex<Option<Database>> = Mutex::const_new(None);

pub(crate) async fn record(lease: &LeaseContext) -> TaskResult {
    let mut connection = CONNECTION.lock().await;
    let database = match &mut *connection {
        Some(database) => database,
        empty => empty.insert(Database::connect(&url()).await?),
    };
    let (task, fence) = (lease.task(), lease.fence());
    let slot = lease.scheduled_for().as_microsecond();
    let row = format!(
        "INSERT INTO run (task, fence, slot, worker, started) VALUES ('{task}', {fence}, {slot}, {}, {{now}})",
        std::process::id()
    );
    database.run(&row).await?;
    say("run", lease, nothing());
    Ok(())
}
