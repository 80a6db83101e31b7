//! A task returns a named type.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext) -> Result<(), impl std::error::Error> {
    Ok::<(), std::fmt::Error>(())
}

fn main() {}
