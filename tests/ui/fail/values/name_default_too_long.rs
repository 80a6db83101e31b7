//! A function's name may be longer than a task's.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa(
    _lease: LeaseContext,
) {
}

fn main() {}
