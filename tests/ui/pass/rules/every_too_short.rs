//! A fixed rate is at least 100 ms.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "100ms")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
