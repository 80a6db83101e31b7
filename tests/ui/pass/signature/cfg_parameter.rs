//! A parameter does not come and go.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
#[cfg(all())]
async fn refresh(#[allow(unused)] lease: LeaseContext) {}

fn main() {}
