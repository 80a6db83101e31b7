//! A task is not extern.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async extern "C" fn refresh(_lease: LeaseContext) {}

fn main() {}
