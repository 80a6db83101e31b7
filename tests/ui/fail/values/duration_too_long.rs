//! A duration is at most ten years.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(timeout = "1h", ttl = "99999999999999999999s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
