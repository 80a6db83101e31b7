//! A job that takes its process down, and one that does not.

use std::time::Duration;

use tasklock_runtime::{LeaseContext, Payload, locked_task};

use crate::say_start;

#[locked_task(ttl = "1s")]
async fn aborts(lease: LeaseContext, _number: Payload<i64>) {
    say_start(&lease);
    tokio::time::sleep(Duration::from_millis(20)).await;
    std::process::abort();
}
