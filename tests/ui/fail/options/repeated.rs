//! An option is given once.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "30s", every = "5s", ttl = "1m")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
