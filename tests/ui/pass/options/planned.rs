//! An option that is promised and not built yet.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "5m")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
