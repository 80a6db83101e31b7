//! A task is a function.

use tasklock_runtime::locked_task;

#[locked_task]
const REFRESH: u64 = 5;

fn main() {}
