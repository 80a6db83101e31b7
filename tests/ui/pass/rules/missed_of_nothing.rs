//! Only slots that are known beforehand are missed, and caught up with.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "1m", missed = "all", max_missed = 5)]
async fn task_1(_lease: LeaseContext) {}

#[locked_task(cron = "@daily", catch_up = "1h")]
async fn task_2(_lease: LeaseContext) {}

#[locked_task(every = "1m", missed = "skip")]
async fn task_3(_lease: LeaseContext) {}

fn main() {}
