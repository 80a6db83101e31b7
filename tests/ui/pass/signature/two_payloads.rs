//! A job carries one thing.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext, _from_to: Payload<(u64, u64)>) {}

fn main() {
    let _ = refresh::enqueue;
}
