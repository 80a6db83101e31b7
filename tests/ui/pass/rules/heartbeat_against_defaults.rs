//! Also where the ttl is the default.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(heartbeat = "12s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
