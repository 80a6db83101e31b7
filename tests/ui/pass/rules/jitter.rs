//! Jitter spreads the slots of a schedule, and leaves them in their order.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "1m", jitter = "59s")]
async fn task_1(_lease: LeaseContext) {}

#[locked_task(after = "1m", jitter = "5m")]
async fn task_2(_lease: LeaseContext) {}

#[locked_task(cron = "@daily", jitter = "1h")]
async fn task_3(_lease: LeaseContext) {}

fn main() {}
