//! A retry waits 100 ms or longer.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(backoff = "100ms..10m")]
async fn first(_lease: LeaseContext) {}

#[locked_task(backoff = "1s..10m")]
async fn second(_lease: LeaseContext) {}

fn main() {}
