//! Jitter spreads the slots of a schedule, and leaves them in their order.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(jitter = "1s")]
async fn task_1(_lease: LeaseContext) {}

#[locked_task(every = "1m", jitter = "1m")]
async fn task_2(_lease: LeaseContext) {}

#[locked_task(every = "1m", jitter = "2h")]
async fn task_3(_lease: LeaseContext) {}

fn main() {}
