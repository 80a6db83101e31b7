//! A comma between two options.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "30s", every = "5s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
