//! A scheduled task has one job.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "5s", concurrency = 2)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
