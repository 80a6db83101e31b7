//! An async function can wait.

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

#[locked_task]
async fn refresh(lease: LeaseContext) -> TaskResult {
    std::future::ready(()).await;
    lease.check()?;
    Ok(())
}

fn main() {}
