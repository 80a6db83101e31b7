//! A stall comes before the timeout.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(timeout = "1h", renew = "progress", stall = "5m")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
