//! A task is a function.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
pub async fn refresh(_lease: LeaseContext) {}

fn main() {}
