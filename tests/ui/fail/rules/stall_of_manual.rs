//! Where the handler renews its lease itself, its reports renew nothing.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(renew = "manual", stall = "5m")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
