//! A name has no control characters.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(name = "billing.refresh")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
