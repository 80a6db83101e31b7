//! What is done about missed slots is one of three words.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "1h", missed = "once")]
async fn task_1(_lease: LeaseContext) {}

#[locked_task(every = "1h", missed = "skip")]
async fn task_2(_lease: LeaseContext) {}

#[locked_task(cron = "@hourly", missed = "all", max_missed = 10000, catch_up = "1d")]
async fn task_3(_lease: LeaseContext) {}

fn main() {}
