//! At most one schedule.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(after = "5s", every = "5s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
