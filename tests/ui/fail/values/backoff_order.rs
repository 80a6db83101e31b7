//! The longest delay comes last.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(backoff = "10m..1s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
