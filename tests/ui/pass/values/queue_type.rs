//! A queue is text.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(queue = "slow")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
