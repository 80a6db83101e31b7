//! Handlers whose leases are renewed for what they report, or by themselves.

use std::thread;
use std::time::Duration;

use serde_json::json;
use tasklock_runtime::{LeaseContext, locked_task};
use tasklock_test_support::process::boottime;

use crate::{Guard, nothing, say};

/// Works for a while, and says when it is about to report for the last time.
async fn works_for_a_while(lease: &LeaseContext) {
    say("start", lease, nothing());
    for done in 0..10 {
        lease.progress(done, 20);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    say("reports", lease, nothing());
    lease.progress(10, 20);
}

/// Hangs, and goes on hanging when it is told.
#[locked_task(
    ttl = "2s",
    renew = "progress",
    stall = "3s",
    after = "1h",
    on_lost = "signal",
    max_crashes = 1000
)]
async fn hangs(lease: LeaseContext) {
    works_for_a_while(&lease).await;
    lease.lost().await;
    say("lost", &lease, nothing());
    lease.shutdown().await;
}

/// Hangs where it can be dropped, without having reported anything.
#[locked_task(ttl = "2s", renew = "progress", after = "1h", max_crashes = 2)]
async fn silent(lease: LeaseContext) {
    let _guard = Guard::of(&lease);
    say("start", &lease, nothing());
    std::future::pending().await
}

/// Asks its lease alone, which no thread but its own has touched.
#[locked_task(
    ttl = "2s",
    renew = "progress",
    stall = "3s",
    after = "1h",
    max_crashes = 1000
)]
fn hangs_in_a_thread(lease: LeaseContext) {
    say("start", &lease, nothing());
    thread::sleep(Duration::from_millis(500));
    say("reports", &lease, nothing());
    lease.progress(1, 2);
    while lease.check().is_ok() {
        // A blocked thread is what is tested here.
        thread::sleep(Duration::from_millis(5));
    }
    say("lost", &lease, nothing());
}

/// Says all the time that it is at work, for ten times its ttl.
#[locked_task(
    ttl = "1s",
    heartbeat = "250ms",
    margin = "100ms",
    renew = "progress",
    after = "1h"
)]
async fn reports(lease: LeaseContext) {
    say("start", &lease, nothing());
    let end = boottime() + Duration::from_secs(10);
    let mut done = 0;
    while boottime() < end && !lease.is_lost() {
        done += 1;
        lease.progress(done, 0);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    say("end", &lease, json!({ "done": done }));
}

/// Renews its lease by itself, for five times its ttl.
#[locked_task(ttl = "1s", margin = "100ms", renew = "manual", after = "1h")]
async fn renews(lease: LeaseContext) {
    say("start", &lease, nothing());
    let end = boottime() + Duration::from_secs(5);
    while boottime() < end && !lease.is_lost() {
        lease.progress(7, 8);
        // What is not confirmed the heartbeat tries again.
        let _ = lease.renew().await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    say("end", &lease, nothing());
}

/// Lives, and does not renew it.
#[locked_task(ttl = "2s", renew = "manual", after = "1h", on_lost = "signal")]
async fn never_renews(lease: LeaseContext) {
    say("start", &lease, nothing());
    lease.progress(1, 2);
    lease.lost().await;
    say("lost", &lease, nothing());
    lease.shutdown().await;
}
