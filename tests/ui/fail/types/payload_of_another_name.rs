//! Another type with the name `Payload` is no payload.

use tasklock_runtime::{ExtractError, FromRun, LeaseContext, RunParts, locked_task};

struct Payload<T>(T);

impl<T: Send> FromRun for Payload<T> {
    async fn from_run(_: &RunParts) -> Result<Self, ExtractError> {
        Err("nothing".into())
    }
}

#[locked_task]
async fn send(_lease: LeaseContext, _number: Payload<u64>) {}

fn main() {}
