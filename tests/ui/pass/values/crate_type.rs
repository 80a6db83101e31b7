//! The runtime's path is a path, not text.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(crate = tasklock_runtime)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
