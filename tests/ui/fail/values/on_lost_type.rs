//! `on_lost` is text.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(on_lost = signal)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
