//! A parameter is something that the runtime can make.

use tasklock_runtime::{LeaseContext, State, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext, _ttl: State<u64>) {}

fn main() {}
