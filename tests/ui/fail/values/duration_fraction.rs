//! A duration has no fractions.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "1.5s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
