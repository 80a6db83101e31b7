//! A number is a literal, not an expression.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(retries = 6, priority = 10)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
