//! A payload may be as private as its task.

#![deny(warnings)]

use serde::{Deserialize, Serialize};
use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[derive(Serialize, Deserialize)]
struct Invoice;

#[locked_task]
async fn private(_lease: LeaseContext, _invoice: Payload<Invoice>) {}

mod inner {
    use super::{Invoice, LeaseContext, Payload, locked_task};

    #[locked_task]
    pub(crate) async fn restricted(_lease: LeaseContext, _invoice: Payload<Invoice>) {}
}

fn main() {
    let _ = private::enqueue;
    let _ = inner::restricted::enqueue;
}
