//! A plain function cannot wait.

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

#[locked_task]
fn refresh(lease: LeaseContext) -> TaskResult {
    std::future::ready(()).await;
    lease.check()?;
    Ok(())
}

fn main() {}
