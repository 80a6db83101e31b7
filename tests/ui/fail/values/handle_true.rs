//! There is a handle anyway, unless it is refused.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(handle = true)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
