//! A word with a typing mistake.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(on_lost = "abort")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
