//! A name is text.

use serde::{Deserialize, Serialize};
use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[derive(Serialize, Deserialize)]
pub struct Invoice {
    pub invoice: u64,
}

#[locked_task(resource = "invoice:{invoice}")]
async fn send(_lease: LeaseContext, _invoice: Payload<Invoice>) {}

fn main() {}
