//! A zone is the zone of a cron.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(cron = "0 3 * * *", tz = "Europe/Berlin")]
async fn task_1(_lease: LeaseContext) {}

fn main() {}
