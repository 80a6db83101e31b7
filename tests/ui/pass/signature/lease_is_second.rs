//! The parameter that is not the lease is the wrong one.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
