//! Nobody gives the run at the start a payload.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task(on_start = true)]
async fn warm(_lease: LeaseContext) {}

#[locked_task(on_start = false)]
async fn send(_lease: LeaseContext, _payload: Payload<u64>) {}

fn main() {}
