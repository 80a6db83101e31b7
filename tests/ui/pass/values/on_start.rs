//! A run at the start is wanted or not.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "1h", on_start = true)]
async fn task_1(_lease: LeaseContext) {}

#[locked_task(on_start = true)]
async fn task_2(_lease: LeaseContext) {}

#[locked_task(every = "1h", on_start = false)]
async fn task_3(_lease: LeaseContext) {}

fn main() {}
