//! A handle is not a keyword.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(handle = type)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
