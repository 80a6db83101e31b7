//! Besides "none" there are durations.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(keep = "3650d")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
