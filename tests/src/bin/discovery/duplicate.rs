//! Has a task with the name of one of the library's.

use tasklock_runtime::{LeaseContext, locked_task};

tasklock_runtime::link!(tasklock_fixture_jobs);

/// Has nothing to do with the library's `clean_accounts` but the name.
#[locked_task(name = "accounts.clean", every = "5s")]
async fn clean_our_accounts(_lease: LeaseContext) {}

#[tokio::main]
async fn main() -> Result<(), tasklock_runtime::Error> {
    tasklock_runtime::run().await
}
