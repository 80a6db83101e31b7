//! One comma between two options; one may follow the last.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "30s", every = "5s",)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
