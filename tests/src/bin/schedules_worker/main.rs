//! The worker process that the tests of schedules drive: each test runs some of its tasks (`TASKLOCK_ONLY`), under another
//! version's schedule if it says so (`TASKLOCK_SCHEDULE_…`).

mod record;

use record::record;
use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

/// Under clocks that are wrong: each of its slots is run.
#[locked_task(ttl = "5s", every = "1s", missed = "all", max_missed = 10_000)]
async fn clocked(lease: LeaseContext) -> TaskResult {
    record(&lease).await
}

#[locked_task(ttl = "5s", every = "200ms")]
async fn once(lease: LeaseContext) -> TaskResult {
    record(&lease).await
}

#[locked_task(ttl = "5s", every = "200ms", missed = "skip")]
async fn skip(lease: LeaseContext) -> TaskResult {
    record(&lease).await
}

#[locked_task(ttl = "5s", every = "200ms", missed = "all")]
async fn all(lease: LeaseContext) -> TaskResult {
    record(&lease).await
}

#[locked_task(ttl = "5s", every = "200ms", missed = "all", max_missed = 20)]
async fn newest(lease: LeaseContext) -> TaskResult {
    record(&lease).await
}

#[locked_task(ttl = "5s", every = "200ms", missed = "all", catch_up = "2s")]
async fn recent(lease: LeaseContext) -> TaskResult {
    record(&lease).await
}

/// By the calendar, each second.
#[locked_task(ttl = "5s", cron = "* * * * * *", tz = "Europe/Berlin")]
async fn calendar(lease: LeaseContext) -> TaskResult {
    record(&lease).await
}

/// Hardly ever but at the start.
#[locked_task(ttl = "5s", cron = "0 0 1 1 *", on_start = true)]
async fn warm_up(lease: LeaseContext) -> TaskResult {
    record(&lease).await
}

/// Another program has it under a new name.
#[locked_task(name = "import", ttl = "5s", every = "200ms")]
async fn old_import(lease: LeaseContext) -> TaskResult {
    record(&lease).await
}

#[tokio::main]
async fn main() -> Result<(), tasklock_runtime::Error> {
    tasklock_runtime::run().await
}
