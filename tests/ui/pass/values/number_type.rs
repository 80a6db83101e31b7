//! A number is plain: no quotes, no type, no fraction.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(retries = 3, max_crashes = 4, concurrency = 2, priority = 100)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
