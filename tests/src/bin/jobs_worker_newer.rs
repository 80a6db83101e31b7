//! A newer version of one of the tasks of `jobs_worker`: its payload has changed.

use serde_json::Value;
use tasklock_runtime::{Error, LeaseContext, Payload, locked_task};
use tasklock_tests::stage::{nothing, say};

#[derive(serde::Serialize, serde::Deserialize)]
struct Order {
    customer: String,
    /// Of any currency by now.
    cents: Value,
}

#[locked_task(ttl = "10s")]
async fn order(lease: LeaseContext, order: Payload<Order>) {
    let _ = (&order.customer, &order.cents);
    say("start", &lease, nothing());
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    tasklock_runtime::run().await
}
