//! `on_lost` is one of three words.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(on_lost = "panic")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
