//! A shortest time between starts needs something that keeps the next one back.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task(min_hold = "1m")]
async fn refresh(_lease: LeaseContext, _payload: Payload<u64>) {}

fn main() {}
