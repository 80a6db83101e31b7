//! Nobody gives a payload to a task that runs by itself.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task]
async fn first(_lease: LeaseContext, _payload: Payload<u64>) {}

#[locked_task(retries = 3)]
async fn second(_lease: LeaseContext, _payload: Payload<u64>) {}

fn main() {}
