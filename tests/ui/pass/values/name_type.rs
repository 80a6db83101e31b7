//! A name is text.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(name = "refresh_rates")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
