//! The units are d, h, m, s and ms.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(timeout = "5m", every = "10m")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
