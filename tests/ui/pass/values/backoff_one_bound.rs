//! A backoff has two bounds, also a constant one.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(backoff = "5s..5s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
