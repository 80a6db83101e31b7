//! A parameter does not come and go.

use tasklock_runtime::{LeaseContext, State, locked_task};

#[locked_task]
#[cfg(all())]
async fn refresh(_lease: LeaseContext, #[allow(unused)] rates: State<u64>) {}

fn main() {}
