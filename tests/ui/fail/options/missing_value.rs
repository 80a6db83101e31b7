//! An option alone says nothing.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(timeout, ttl =)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
