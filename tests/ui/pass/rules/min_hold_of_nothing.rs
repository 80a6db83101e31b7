//! A shortest time between starts needs something that keeps the next one back.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task(min_hold = "1m", concurrency = 1)]
async fn refresh(_lease: LeaseContext, _payload: Payload<u64>) {}

#[locked_task(min_hold = "1m")]
async fn without_payload(_lease: LeaseContext) {}

#[locked_task(min_hold = "1m", every = "5s")]
async fn scheduled(_lease: LeaseContext) {}

fn main() {}
