//! A task is registered once, so it is not generic.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn refresh<T: Send>(_lease: LeaseContext) {}

fn main() {}
