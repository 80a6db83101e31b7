//! A task is not const.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
const fn refresh(_lease: LeaseContext) {}

fn main() {}
