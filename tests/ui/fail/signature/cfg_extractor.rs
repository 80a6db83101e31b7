//! A parameter does not come and go.

use tasklock_runtime::{LeaseContext, State, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext, #[cfg(all())] _rates: State<u64>) {}

fn main() {}
