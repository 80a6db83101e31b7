//! A state is shared between threads.

use tasklock_runtime::{LeaseContext, State, locked_task};

use std::sync::Arc;

#[locked_task]
async fn refresh(_lease: LeaseContext, _rates: State<Arc<u64>>) {}

fn main() {}
