//! Also where the ttl is the default.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(heartbeat = "20s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
