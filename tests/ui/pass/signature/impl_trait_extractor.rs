//! A parameter has a named type.

use tasklock_runtime::{LeaseContext, State, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext, _rates: State<Box<dyn Fn(&str) -> u64 + Send + Sync>>) {}

fn main() {}
