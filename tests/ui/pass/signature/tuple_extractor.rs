//! A parameter is one thing.

use tasklock_runtime::{LeaseContext, State, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext, _rates: State<u64>, _least: State<u8>) {}

fn main() {}
