//! Jobs of which only so many run at once, or so soon.

use std::time::Duration;

use tasklock_runtime::{LeaseContext, Payload, locked_task};

use crate::say_start;

#[locked_task(ttl = "2s", concurrency = 3, max_crashes = 1000)]
async fn narrow(lease: LeaseContext, _number: Payload<i64>) {
    say_start(&lease);
    tokio::time::sleep(Duration::from_millis(30)).await;
}

/// Over at once, and yet not sooner than so often.
#[locked_task(ttl = "10s", every = "200ms", min_hold = "1s")]
async fn ticks(lease: LeaseContext) {
    say_start(&lease);
}

#[locked_task(ttl = "10s", concurrency = 1, min_hold = "500ms")]
async fn paced(lease: LeaseContext, _number: Payload<i64>) {
    say_start(&lease);
}
