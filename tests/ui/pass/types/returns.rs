//! A task returns nothing or a result.

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

#[locked_task]
async fn nothing(_lease: LeaseContext) {}

#[locked_task]
async fn unit(_lease: LeaseContext) -> () {}

#[locked_task]
async fn result(_lease: LeaseContext) -> TaskResult {
    Ok(())
}

fn main() {}
