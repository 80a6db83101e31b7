//! A name is not empty.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(name = "")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
