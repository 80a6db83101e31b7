//! A number has a unit.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "30s", timeout = "1h30m")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
