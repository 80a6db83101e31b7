//! A name has no blanks at its ends.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(name = "billing refresh")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
