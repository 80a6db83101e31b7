//! The lease comes first.

use tasklock_runtime::{LeaseContext, State, locked_task};

#[locked_task]
async fn refresh(_rates: State<u64>, _lease: LeaseContext) {}

fn main() {}
