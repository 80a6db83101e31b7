//! The longer unit comes first, each once.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(timeout = "1h30m", ttl = "1m")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
