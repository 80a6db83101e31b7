//! Nobody looks at the reports of a handler that is renewed anyway.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(stall = "5m")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
