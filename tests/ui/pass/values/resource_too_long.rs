//! A name has at most 128 bytes; one that has more without its fields is never taken.

use serde::{Deserialize, Serialize};
use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[derive(Serialize, Deserialize)]
pub struct Invoice {
    pub invoice: u64,
}

#[locked_task(resource = "ööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööö{invoice}")]
async fn send(_lease: LeaseContext, _invoice: Payload<Invoice>) {}

fn main() {}
