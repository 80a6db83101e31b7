//! A task is a function.

use tasklock_runtime::locked_task;

#[locked_task]
pub struct Refresh;

fn main() {}
