//! A cron is checked, down to the field.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(cron = "0 25 * * *")]
async fn task_1(_lease: LeaseContext) {}

#[locked_task(cron = "0 0 31 2 *")]
async fn task_2(_lease: LeaseContext) {}

#[locked_task(cron = "0 9 * * MOM")]
async fn task_3(_lease: LeaseContext) {}

#[locked_task(cron = "0 9 * *")]
async fn task_4(_lease: LeaseContext) {}

#[locked_task(cron = "5m")]
async fn task_5(_lease: LeaseContext) {}

#[locked_task(cron = 5)]
async fn task_6(_lease: LeaseContext) {}

#[locked_task(cron = "")]
async fn task_7(_lease: LeaseContext) {}

fn main() {}
