//! A payload is read again for each run.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[derive(serde::Serialize)]
pub struct Invoice {
    pub number: u64,
}

#[locked_task]
async fn send(_lease: LeaseContext, _invoice: Payload<Invoice>) {}

fn main() {}
