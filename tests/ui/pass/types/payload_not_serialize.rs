//! A payload is written where its job is enqueued.

use serde::{Deserialize, Serialize};
use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[derive(Serialize, Deserialize)]
pub struct Invoice {
    pub number: u64,
}

#[locked_task]
async fn send(_lease: LeaseContext, _invoice: Payload<Invoice>) {}

fn main() {}
