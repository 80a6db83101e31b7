//! Two heartbeats and the margin fit in the ttl.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "1m", margin = "20s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
