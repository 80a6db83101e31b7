//! A duration is not empty.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
