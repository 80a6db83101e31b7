//! One heartbeat fits in a stall.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "1m", heartbeat = "5s", renew = "progress", stall = "5s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
