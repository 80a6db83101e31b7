//! The longer unit comes first, each once.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(timeout = "30m1h", ttl = "30s30s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
