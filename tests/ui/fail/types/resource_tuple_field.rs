//! A tuple's fields are numbers.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task(resource = "invoice:{2}")]
async fn send(_lease: LeaseContext, _invoice: Payload<(u64, String)>) {}

fn main() {}
