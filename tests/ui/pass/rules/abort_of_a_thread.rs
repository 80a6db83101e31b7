//! A thread cannot be stopped.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(on_lost = "signal")]
fn refresh(_lease: LeaseContext) {}

#[locked_task(on_lost = "exit")]
fn exits(_lease: LeaseContext) {}

#[locked_task]
fn by_default(_lease: LeaseContext) {}

fn main() {}
