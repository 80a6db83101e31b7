//! No option has this name, or one like it.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "5s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
