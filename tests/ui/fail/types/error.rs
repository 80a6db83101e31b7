//! The error of a task is an error, and can be boxed.

use tasklock_runtime::{LeaseContext, locked_task};

struct Broken;

#[locked_task]
async fn refresh(_lease: LeaseContext) -> Result<(), Broken> {
    Err(Broken)
}

fn main() {}
