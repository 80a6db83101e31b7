//! A parameter does not come and go.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn refresh(#[cfg(all())] _lease: LeaseContext) {}

fn main() {}
