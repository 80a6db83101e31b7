//! An option alone says nothing.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(timeout = "1h", ttl = "30s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
