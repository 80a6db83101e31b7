//! A number that fits nowhere is too large like any other.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(retries = 1_000_000)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
