//! A duration is longer than zero.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "1s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
