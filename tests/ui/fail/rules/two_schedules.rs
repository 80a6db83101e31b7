//! At most one schedule.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(after = "5s", every = "5s")]
async fn refresh(_lease: LeaseContext) {}

#[locked_task(every = "5s", cron = "@daily")]
async fn clean(_lease: LeaseContext) {}

fn main() {}
