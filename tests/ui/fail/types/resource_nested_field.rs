//! A field may be a field's field.

use serde::{Deserialize, Serialize};
use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[derive(Serialize, Deserialize)]
pub struct Customer {
    pub id: u64,
}

#[derive(Serialize, Deserialize)]
pub struct Invoice {
    pub customer: Customer,
}

#[locked_task(resource = "customer:{customer.name}")]
async fn send(_lease: LeaseContext, _invoice: Payload<Invoice>) {}

fn main() {}
