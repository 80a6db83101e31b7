//! A thread cannot be stopped.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(on_lost = "abort")]
fn refresh(_lease: LeaseContext) {}

fn main() {}
