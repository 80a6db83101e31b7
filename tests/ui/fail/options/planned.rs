//! An option that is promised and not built yet.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(cron = "*/5 * * * *", jitter = "1s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
