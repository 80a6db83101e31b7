//! Where the handler renews its lease itself, there is no heartbeat.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(renew = "manual", ttl = "15s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
