//! A name has no control characters.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(name = "billing\nrefresh")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
