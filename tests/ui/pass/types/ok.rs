//! The result of a task says nothing but that it went well.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext) -> Result<(), std::fmt::Error> {
    Ok(())
}

fn main() {}
