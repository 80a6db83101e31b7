//! Two dots stand between the bounds.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(backoff = "1s-10m")]
async fn first(_lease: LeaseContext) {}

#[locked_task(backoff = "1s .. 10m")]
async fn second(_lease: LeaseContext) {}

#[locked_task(backoff = "1s..=10m")]
async fn third(_lease: LeaseContext) {}

fn main() {}
