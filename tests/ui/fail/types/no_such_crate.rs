//! The runtime is where `crate` says it is.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(crate = facade)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
