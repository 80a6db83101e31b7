//! A task takes its lease, also where it takes other things.

use tasklock_runtime::{Payload, State, locked_task};

#[locked_task]
async fn refresh(_rates: State<u64>, _job: Payload<String>) {}

fn main() {}
