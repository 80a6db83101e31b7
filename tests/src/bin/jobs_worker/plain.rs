//! Jobs that do little, and whose order or number is what counts.

use std::time::Duration;

use tasklock_runtime::{LeaseContext, Payload, locked_task};

use crate::say_start;

/// Over at once.
#[locked_task]
async fn note(lease: LeaseContext, _number: Payload<i64>) {
    say_start(&lease);
}

/// The same, for workers of another queue.
#[locked_task(queue = "mail")]
async fn mailed(lease: LeaseContext, _number: Payload<i64>) {
    say_start(&lease);
}

/// Over at once, and nothing of it stays.
#[locked_task(keep = "none")]
async fn nothing(_lease: LeaseContext, _number: Payload<i64>) {}

/// One of each key at once.
#[locked_task(ttl = "10s")]
async fn keyed(_lease: LeaseContext, _key: Payload<i64>) {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

/// A few of them a second.
#[locked_task(ttl = "10s")]
async fn slow(_lease: LeaseContext, _number: Payload<i64>) {
    tokio::time::sleep(Duration::from_millis(300)).await;
}

/// Some of them a second.
#[locked_task(ttl = "10s")]
async fn ranked(_lease: LeaseContext, _number: Payload<i64>) {
    tokio::time::sleep(Duration::from_millis(10)).await;
}

/// Carries what a program can change from one version to the next.
#[derive(serde::Serialize, serde::Deserialize)]
struct Order {
    customer: String,
    cents: u32,
}

/// Reads what an older version has enqueued, and not what a newer one has.
#[locked_task(ttl = "10s")]
async fn order(lease: LeaseContext, order: Payload<Order>) {
    let _ = (&order.customer, order.cents);
    say_start(&lease);
}
