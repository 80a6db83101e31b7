//! A parameter is the lease itself.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn refresh(_lease: (LeaseContext, u64)) {}

fn main() {}
