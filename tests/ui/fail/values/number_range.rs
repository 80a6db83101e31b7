//! A number is in its range.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(retries = -1, max_crashes = 1_000_001, concurrency = 0, priority = -40000)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
