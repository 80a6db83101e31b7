//! A number is in its range.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(retries = 0, max_crashes = 1_000_000, concurrency = 1, priority = -32768)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
