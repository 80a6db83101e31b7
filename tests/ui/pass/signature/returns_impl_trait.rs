//! A task returns a named type.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext) -> Result<(), std::fmt::Error> {
    Ok(())
}

fn main() {}
