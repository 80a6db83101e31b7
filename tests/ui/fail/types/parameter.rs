//! The parameter is the lease, by any of its names.

use tasklock_runtime::locked_task;

#[locked_task]
async fn refresh(_rates: Vec<u64>) {}

fn main() {}
