//! A name has at least one byte.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(resource = "")]
async fn send(_lease: LeaseContext) {}

fn main() {}
