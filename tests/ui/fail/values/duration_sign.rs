//! A duration has no sign.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "-30s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
