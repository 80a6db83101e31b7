//! Jobs that end in each of the other ways.

use std::time::Duration;

use serde_json::json;
use tasklock_runtime::{
    Discard, LeaseContext, Payload, RetryAfter, Snooze, State, TaskResult, locked_task,
};

use crate::application::Answers;
use crate::failing::Because;
use crate::{say, say_start};

#[locked_task(ttl = "10s")]
async fn discards(lease: LeaseContext, _number: Payload<i64>) -> TaskResult {
    say_start(&lease);
    Err(Discard::new("the customer has gone"))?
}

/// Twice not now, then done.
#[locked_task(ttl = "10s", retries = 0)]
async fn snoozes(lease: LeaseContext, _number: Payload<i64>, runs: State<Answers>) -> TaskResult {
    say_start(&lease);
    if runs.nth(lease.job_id()) <= 2 {
        Err(Snooze::new(Duration::from_millis(300)))?;
    }
    Ok(())
}

/// The same by schedule: its one slot runs three times.
#[locked_task(ttl = "10s", after = "1h")]
async fn snoozes_by_schedule(lease: LeaseContext, runs: State<Answers>) -> TaskResult {
    say_start(&lease);
    if runs.nth(lease.job_id()) <= 2 {
        Err(Snooze::new(Duration::from_millis(300)))?;
    }
    Ok(())
}

/// Sooner than its backoff.
#[locked_task(ttl = "10s", retries = 2, backoff = "1h..2h")]
async fn asks_later(
    lease: LeaseContext,
    _number: Payload<i64>,
    runs: State<Answers>,
) -> TaskResult {
    say_start(&lease);
    if runs.nth(lease.job_id()) == 1 {
        Err(RetryAfter::new(
            Duration::from_millis(300),
            "too many requests",
        ))?;
    }
    Ok(())
}

#[locked_task(ttl = "10s", retries = 0)]
async fn panics(lease: LeaseContext, _number: Payload<i64>) {
    say("start", &lease, json!({ "line": line!() + 1 }));
    panic!("the drawer is stuck");
}

/// Panics when it is dropped.
struct Sharp;

impl Drop for Sharp {
    fn drop(&mut self) {
        panic!("the drawer fell out");
    }
}

/// Is dropped at its timeout.
#[locked_task(ttl = "10s", retries = 0, timeout = "200ms")]
async fn sharp_at_its_timeout(lease: LeaseContext, _number: Payload<i64>) {
    let _sharp = Sharp;
    say_start(&lease);
    std::future::pending().await
}

/// Has ended well but for what it holds.
#[locked_task(ttl = "10s", retries = 0)]
async fn sharp_at_its_end(lease: LeaseContext, _number: Payload<i64>) {
    let _sharp = Sharp;
    say_start(&lease);
}

#[locked_task(ttl = "10s", retries = 0)]
async fn talkative(lease: LeaseContext, _number: Payload<i64>) -> TaskResult {
    say_start(&lease);
    let long: &'static str = "ä".repeat(10_000).leak();
    Err(Because("sending", Some(Box::new(Because(long, None)))))?
}
