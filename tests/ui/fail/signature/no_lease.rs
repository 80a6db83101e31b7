//! A task takes its lease.

use tasklock_runtime::locked_task;

#[locked_task]
async fn refresh() {}

fn main() {}
