//! The handlers.

use std::future::pending;

use tasklock_runtime::{LeaseContext, Payload, locked_task};

use crate::process::{now, today};
use crate::times;

/// Nothing is kept of it.
#[locked_task(ttl = "30s", keep = "none")]
pub async fn gone(_lease: LeaseContext, number: Payload<u32>) {
    times::ran(number.0);
}

/// It stays visible for a day, as a job does by itself.
#[locked_task(ttl = "30s")]
pub async fn kept(_lease: LeaseContext, number: Payload<u32>) {
    times::ran(number.0);
}

/// It stays visible for a minute.
#[locked_task(ttl = "30s", keep = "1m")]
pub async fn brief(_lease: LeaseContext, number: Payload<u32>) {
    times::ran(number.0);
}

/// Holds its lease until the process stops.
#[locked_task(ttl = "30s", heartbeat = "10s", keep = "none")]
pub async fn waiting(lease: LeaseContext, number: Payload<u32>) {
    times::ran(number.0);
    lease.shutdown().await;
}

/// Tells when it starts, and never ends by itself.
#[locked_task(ttl = "5s", max_crashes = 100)]
pub async fn held(_lease: LeaseContext, _number: Payload<u32>) {
    println!("started {} {}", now().as_nanos(), today().as_micros());
    pending::<()>().await;
}

/// A slot falls due every second.
#[locked_task(every = "1s", queue = "ticking", handle = false)]
async fn ticking(_lease: LeaseContext) {
    times::ran(0);
}
