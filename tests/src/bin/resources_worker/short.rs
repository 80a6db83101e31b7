//! Jobs that do little.

use std::time::Duration;

use tasklock_runtime::{LeaseContext, Payload, State, TaskResult, locked_task};
use tasklock_tests::stage::Notes;

use crate::{Errand, tell, tell_of};

const STEP: Duration = Duration::from_millis(3);
const WORK: Duration = Duration::from_millis(20);

/// Notes itself some times, and completes itself with the last one.
#[locked_task(
    ttl = "2s",
    resource = "invoice:{invoice}",
    max_crashes = 1000,
    backoff = "100ms..200ms"
)]
pub(crate) async fn bills(
    lease: LeaseContext,
    errand: Payload<Errand>,
    notes: State<Notes>,
) -> TaskResult {
    tell("start", &lease);
    let expected = format!("invoice:{}", errand.invoice);
    if lease.resource() != Some(&*expected) {
        return Err(format!("not {expected}: {:?}", lease.resource()).into());
    }
    for _ in 0..3 {
        notes.note(&lease, false).await?;
        tokio::time::sleep(STEP).await;
    }
    Ok(notes.note(&lease, true).await?)
}

/// Another task with the same names, which ends by itself.
#[locked_task(
    name = "invoice.reminds",
    ttl = "2s",
    resource = "invoice:{0}",
    max_crashes = 1000,
    backoff = "100ms..200ms"
)]
pub(crate) async fn reminds(
    lease: LeaseContext,
    errand: Payload<(u32, String)>,
    notes: State<Notes>,
) -> TaskResult {
    let _text = &errand.1;
    for _ in 0..3 {
        notes.note(&lease, false).await?;
        tokio::time::sleep(STEP).await;
    }
    Ok(())
}

/// Over at once.
#[locked_task(ttl = "10s")]
async fn plain(_lease: LeaseContext, _number: Payload<i64>) {}

/// The same, under a name for each number.
#[locked_task(ttl = "10s", resource = "item:{}")]
async fn apart(_lease: LeaseContext, _number: Payload<i64>) {}

/// Work of some milliseconds.
#[locked_task(ttl = "10s")]
async fn works(_lease: LeaseContext, _number: Payload<i64>) {
    tokio::time::sleep(WORK).await;
}

/// The same, under a name for each number.
#[locked_task(ttl = "10s", resource = "item:{}")]
async fn works_apart(_lease: LeaseContext, _number: Payload<i64>) {
    tokio::time::sleep(WORK).await;
}

/// Completes itself, and ends.
#[locked_task(ttl = "30s", resource = "invoice:{}")]
async fn settles(lease: LeaseContext, _invoice: Payload<u32>, notes: State<Notes>) -> TaskResult {
    tell("start", &lease);
    let committed = notes.note(&lease, true).await;
    tell_of(&committed, &lease);
    Ok(committed?)
}
