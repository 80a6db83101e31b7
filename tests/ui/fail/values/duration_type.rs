//! A duration is text.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = 30, heartbeat = 10s, margin = 2.5, timeout = Duration::from_secs(3600))]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
