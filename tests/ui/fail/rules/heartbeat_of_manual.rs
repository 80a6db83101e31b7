//! Where the handler renews its lease itself, there is no heartbeat.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(renew = "manual", heartbeat = "5s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
