//! A value is one literal, not an expression.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "30s".into())]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
