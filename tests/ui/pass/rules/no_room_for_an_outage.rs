//! A short outage of the database is survived.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(heartbeat = "1s", margin = "25s")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
