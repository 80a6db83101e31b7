//! A duration has no blanks.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(timeout = "1h30m")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
