//! A value needs its key.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task("30s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
