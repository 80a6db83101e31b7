//! A payload is written and read.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

pub struct Invoice {
    pub number: u64,
}

#[locked_task]
async fn send(_lease: LeaseContext, _invoice: Payload<Invoice>) {}

fn main() {}
