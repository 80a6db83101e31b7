//! Handlers that hold their lease: politely, spinning, or blocking their thread.

use std::thread;
use std::time::Duration;

use serde_json::json;
use tasklock_runtime::{LeaseContext, TaskResult, locked_task};
use tasklock_test_support::process::boottime;

use crate::{Guard, nothing, say};

/// Holds it until it is lost or the process is asked to stop; killed more often than five times.
#[locked_task(ttl = "2s", after = "100ms", max_crashes = 1000)]
async fn hold(lease: LeaseContext) {
    say("start", &lease, nothing());
    tokio::select! {
        _ = lease.lost() => {}
        () = lease.shutdown() => {}
    }
    say("end", &lease, nothing());
}

/// The same with a long lease.
#[locked_task(ttl = "10s", after = "100ms")]
async fn hold_long(lease: LeaseContext) {
    say("start", &lease, nothing());
    tokio::select! {
        _ = lease.lost() => {}
        () = lease.shutdown() => {}
    }
    say("end", &lease, nothing());
}

/// The same with a lease that outlives an outage of 12.5 s.
#[locked_task(ttl = "20s", heartbeat = "1s", after = "1h")]
async fn steady(lease: LeaseContext) {
    say("start", &lease, nothing());
    tokio::select! {
        _ = lease.lost() => say("end", &lease, nothing()),
        () = lease.shutdown() => {}
    }
}

/// Checks its lease in a loop that never awaits, and tells the check that follows a pause, and the
/// one that fails.
#[locked_task(ttl = "2s", after = "100ms")]
async fn spin(lease: LeaseContext) {
    // Read first: whoever hears of the start may stop the process before anything else is carried out.
    let mut last = boottime();
    say("start", &lease, nothing());
    while !lease.is_shutting_down() {
        // A blocked thread is what is tested here.
        thread::sleep(Duration::from_millis(5));
        // Read before the check: a pause after it shows in the next round. But a check that fails may
        // itself come after a pause that began between the two: then the time after it counts.
        let before = boottime();
        let held = lease.check().is_ok();
        let now = if held { before } else { boottime() };
        let gap = now.saturating_sub(last);
        last = before;
        if !held || gap > Duration::from_secs(1) {
            let gap = u64::try_from(gap.as_millis()).expect("it fits");
            say("check", &lease, json!({ "gap_ms": gap, "held": held }));
        }
        if !held {
            break;
        }
    }
    // As if it had done its work.
}

/// Blocks its thread for three times its ttl.
#[locked_task(ttl = "1s", after = "1h")]
async fn block(lease: LeaseContext) {
    say("start", &lease, nothing());
    thread::sleep(Duration::from_secs(3));
    say("end", &lease, nothing());
}

/// Goes on working after the wish to stop, for three times its ttl, then ends.
#[locked_task(ttl = "1s", after = "1h")]
async fn drain(lease: LeaseContext) -> TaskResult {
    say("start", &lease, nothing());
    lease.shutdown().await;
    say(
        "shutdown",
        &lease,
        json!({ "seen": lease.is_shutting_down() }),
    );
    let until = boottime() + Duration::from_secs(3);
    while boottime() < until {
        lease.check()?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    say("end", &lease, nothing());
    Ok(())
}

/// Never ends by itself, whatever it is told.
#[locked_task(ttl = "30s", after = "100ms")]
async fn ignore(lease: LeaseContext) {
    let _guard = Guard::of(&lease);
    say("start", &lease, nothing());
    std::future::pending().await
}

/// Blocks its thread as soon as the process is asked to stop.
#[locked_task(ttl = "1s", after = "100ms")]
async fn block_at_shutdown(lease: LeaseContext) {
    say("start", &lease, nothing());
    lease.shutdown().await;
    say("shutdown", &lease, nothing());
    thread::sleep(Duration::from_secs(3));
    say("end", &lease, nothing());
}
