//! A parameter is something that the runtime can make.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext, _ttl: u64) {}

fn main() {}
