//! The function stays a function.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext) -> TaskResult {
    Ok(())
}

fn main() {
    fn calls<F: Future<Output = TaskResult> + Send>(_: fn(LeaseContext) -> F) {}
    calls(refresh);
}
