//! A task is not variadic.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
unsafe extern "C" fn refresh(_lease: LeaseContext, _: ...) {}

fn main() {}
