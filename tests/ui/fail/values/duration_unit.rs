//! The units are d, h, m, s and ms.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(timeout = "5M", every = "10min", after = "1w")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
