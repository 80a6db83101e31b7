//! A duration has no fractions.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "1s500ms")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
