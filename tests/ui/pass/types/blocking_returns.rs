//! A blocking task returns what any other does.

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

#[locked_task]
fn refresh(lease: LeaseContext) -> TaskResult {
    lease.check()?;
    Ok(())
}

fn main() {}
