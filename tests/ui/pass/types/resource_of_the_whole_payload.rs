//! Empty braces are the payload, which can be shown then.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task(resource = "invoice:{}")]
async fn send(_lease: LeaseContext, _invoice: Payload<String>) {}

fn main() {}
