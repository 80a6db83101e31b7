//! A task owns its parameters.

use tasklock_runtime::{LeaseContext, State, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext, _rates: &State<u64>) {}

fn main() {}
