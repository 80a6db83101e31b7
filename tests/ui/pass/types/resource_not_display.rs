//! The fields of a name can be shown.

use serde::{Deserialize, Serialize};
use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[derive(Serialize, Deserialize)]
pub struct Invoice {
    pub lines: Vec<u64>,
    pub number: u64,
}

#[locked_task(resource = "invoice:{number}")]
async fn send(_lease: LeaseContext, _invoice: Payload<Invoice>) {}

fn main() {}
