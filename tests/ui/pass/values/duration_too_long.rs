//! A duration is at most ten years.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(timeout = "3650d")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
