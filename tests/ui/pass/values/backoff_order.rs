//! The longest delay comes last.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(backoff = "1s..10m")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
