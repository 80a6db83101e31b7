//! A zone has an IANA name; one that is none, as far as can be seen.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(cron = "0 3 * * *", tz = "Europe/Berlin")]
async fn task_1(_lease: LeaseContext) {}

#[locked_task(cron = "0 3 * * *", tz = "UTC")]
async fn task_2(_lease: LeaseContext) {}

#[locked_task(cron = "0 3 * * *", tz = "Antarctica/Atlantis")]
async fn task_3(_lease: LeaseContext) {}

fn main() {}
