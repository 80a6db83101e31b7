//! The fields of a name are the payload's.

use serde::{Deserialize, Serialize};
use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[derive(Serialize, Deserialize)]
pub struct Invoice {
    pub invoice: u64,
}

#[locked_task(resource = "invoice:{invoise}")]
async fn send(_lease: LeaseContext, _invoice: Payload<Invoice>) {}

fn main() {}
