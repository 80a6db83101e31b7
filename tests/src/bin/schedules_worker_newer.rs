//! A newer version of one of the tasks of `schedules_worker`: it has another name.

#[path = "schedules_worker/record.rs"]
mod record;

use record::record;
use tasklock_runtime::{Error, LeaseContext, TaskResult, locked_task};

#[locked_task(name = "import.rates", alias = ["older", "import"], ttl = "5s", every = "200ms")]
async fn import(lease: LeaseContext) -> TaskResult {
    record(&lease).await
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    tasklock_runtime::run().await
}
