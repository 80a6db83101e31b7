//! What is done about missed slots is one of three words.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "1h", missed = "never")]
async fn task_1(_lease: LeaseContext) {}

#[locked_task(every = "1h", missed = "skipp")]
async fn task_2(_lease: LeaseContext) {}

#[locked_task(every = "1h", missed = once)]
async fn task_3(_lease: LeaseContext) {}

#[locked_task(every = "1h", missed = "all", max_missed = 0)]
async fn task_4(_lease: LeaseContext) {}

#[locked_task(every = "1h", missed = "all", max_missed = 10001)]
async fn task_5(_lease: LeaseContext) {}

fn main() {}
