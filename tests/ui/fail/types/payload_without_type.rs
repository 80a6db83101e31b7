//! `Payload` says of what.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task]
async fn send(_lease: LeaseContext, _number: Payload) {}

fn main() {}
