//! Besides "none" there are durations.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(keep = "forever")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
