//! A task takes nothing but its lease, for now.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
