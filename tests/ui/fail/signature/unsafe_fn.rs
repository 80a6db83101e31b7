//! A task is not unsafe.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async unsafe fn refresh(_lease: LeaseContext) {}

fn main() {}
