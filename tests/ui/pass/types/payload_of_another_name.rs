//! Another type with the name `Payload` is no payload.

use tasklock_runtime::{ExtractError, FromRun, LeaseContext, RunParts, locked_task};

struct Body<T>(T);

impl<T: Send> FromRun for Body<T> {
    async fn from_run(_: &RunParts) -> Result<Self, ExtractError> {
        Err("nothing".into())
    }
}

#[locked_task]
async fn send(_lease: LeaseContext, _number: Body<u64>) {}

fn main() {}
