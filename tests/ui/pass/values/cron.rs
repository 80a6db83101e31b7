//! A cron is checked, down to the field.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(cron = "0 23 * * *")]
async fn task_1(_lease: LeaseContext) {}

#[locked_task(cron = "0 0 L 2 *")]
async fn task_2(_lease: LeaseContext) {}

#[locked_task(cron = "0 9 * * MON")]
async fn task_3(_lease: LeaseContext) {}

#[locked_task(cron = "@daily")]
async fn task_4(_lease: LeaseContext) {}

#[locked_task(cron = "*/10 30 2 15W * FRI#3")]
async fn task_5(_lease: LeaseContext) {}

fn main() {}
