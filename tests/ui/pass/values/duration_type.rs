//! A duration is text.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "30s", heartbeat = "10s", margin = "2s500ms", timeout = "1h")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
