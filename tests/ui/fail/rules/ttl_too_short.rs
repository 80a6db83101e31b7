//! A ttl is at least 500 ms.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "499ms")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
