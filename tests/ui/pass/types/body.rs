//! A mistake in the body is shown as in any other function.

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

#[locked_task]
async fn refresh(lease: LeaseContext) -> TaskResult {
    lease.check()?;
    Ok(())
}

fn main() {}
