//! A task returns nothing or a result.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext) -> Option<u64> {
    None
}

fn main() {}
