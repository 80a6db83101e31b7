//! The first crash is the earliest that a job is dead of.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(max_crashes = 0)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
