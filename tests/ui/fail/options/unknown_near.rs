//! An option with a typing mistake.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(evrey = "5s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
