//! A number has a unit.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "30", timeout = "1h30")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
