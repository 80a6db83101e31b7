//! The handle adds nothing to what the compiler says of the function.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, Payload, locked_task};

pub mod jobs {
    use super::{LeaseContext, Payload, locked_task};

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Invoice;

    #[locked_task]
    pub async fn send(_lease: LeaseContext, _invoice: Payload<Invoice>) {}
}

fn main() {}
