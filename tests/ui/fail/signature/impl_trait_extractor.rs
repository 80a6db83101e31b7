//! A parameter has a named type.

use tasklock_runtime::{LeaseContext, State, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext, _rates: State<impl Send + Sync + 'static>) {}

fn main() {}
