//! A zone is the zone of a cron.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "1h", tz = "Europe/Berlin")]
async fn task_1(_lease: LeaseContext) {}

#[locked_task(tz = "Europe/Berlin")]
async fn task_2(_lease: LeaseContext) {}

fn main() {}
