//! A blocking task returns what any other does.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
fn refresh(_lease: LeaseContext) -> u64 {
    1
}

fn main() {}
