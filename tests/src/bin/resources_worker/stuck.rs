//! Jobs that hold their two leases.

use std::time::Duration;

use tasklock_runtime::{LeaseContext, Payload, State, TaskResult, locked_task};
use tasklock_tests::stage::{Guard, Notes};

use crate::{Errand, tell, tell_of};

/// Where it is told so, only its second run ends.
#[locked_task(ttl = "2s", resource = "invoice:{invoice}")]
async fn hangs_once(lease: LeaseContext, errand: Payload<Errand>) {
    tell("start", &lease);
    if errand.hangs && lease.attempt() == 1 {
        std::future::pending().await
    }
}

/// Never ends by itself.
#[locked_task(ttl = "30s", resource = "invoice:{}")]
async fn ignores(lease: LeaseContext, _invoice: Payload<u32>) {
    let _guard = Guard::of(&lease);
    tell("start", &lease);
    std::future::pending().await
}

/// Hears of its loss, and tries to write all the same. Its second run ends.
#[locked_task(
    ttl = "3s",
    heartbeat = "500ms",
    resource = "invoice:{}",
    on_lost = "signal"
)]
async fn loses(lease: LeaseContext, _invoice: Payload<u32>, notes: State<Notes>) -> TaskResult {
    tell("start", &lease);
    if lease.attempt() == 1 {
        lease.lost().await;
        tell("lost", &lease);
    }
    let committed = notes.note(&lease, false).await;
    tell_of(&committed, &lease);
    Ok(committed?)
}

/// Writes when there is a row in the table `cue`, long before a heartbeat.
#[locked_task(ttl = "5m", resource = "invoice:{}", on_lost = "signal")]
async fn on_cue(lease: LeaseContext, _invoice: Payload<u32>, notes: State<Notes>) -> TaskResult {
    tell("start", &lease);
    while notes.count("cue").await? == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let committed = notes.note(&lease, false).await;
    tell_of(&committed, &lease);
    Ok(committed?)
}
