//! A queue has a name, as a task has.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(queue = "")]
async fn first(_lease: LeaseContext) {}

#[locked_task(queue = "slow ")]
async fn second(_lease: LeaseContext) {}

fn main() {}
