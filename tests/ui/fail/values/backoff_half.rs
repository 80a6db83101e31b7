//! A mistake in one half of a backoff.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(backoff = "1s..10M")]
async fn first(_lease: LeaseContext) {}

#[locked_task(backoff = "1.5s..10m")]
async fn second(_lease: LeaseContext) {}

fn main() {}
