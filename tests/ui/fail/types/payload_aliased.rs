//! The handle is written for the payload's type, which an alias hides.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

type Number = Payload<u64>;

#[locked_task]
async fn send(_lease: LeaseContext, _number: Number) {}

fn main() {}
