//! Handlers that starve the process: the heartbeat has a thread and a connection of its own.

use std::time::Duration;

use tasklock_test_support::wait::eventually_async;

use crate::support::{BOUND, Place, number, ready, start_of, worker};

const TTL: Duration = Duration::from_secs(1);

on_both! {
    beside: a_blocked_thread_keeps_the_lease,
    beside: a_blocked_process_keeps_the_lease,
    beside: an_exhausted_pool_keeps_the_lease,
}

async fn a_blocked_thread_keeps_the_lease(place: Place) {
    keeps(&place, "block", &[]).await;
}

/// On a runtime with a single thread nothing else runs meanwhile.
async fn a_blocked_process_keeps_the_lease(place: Place) {
    keeps(&place, "block", &[("WORKER_FLAVOR", "current")]).await;
}

async fn an_exhausted_pool_keeps_the_lease(place: Place) {
    keeps(&place, "hog", &[("WORKER_POOL", "1")]).await;
}

/// For three times its ttl, beside a worker that would take it.
async fn keeps(place: &Place, task: &str, more: &[(&str, &str)]) {
    let holder = worker(&place.url(), task, more);
    let start = start_of(&holder);
    let other = worker(&place.url(), task, &[]);
    ready(&other);
    let end = holder.wait_for(BOUND, |event| event.is("end"));
    assert!(end.boottime() >= start.boottime().map(|start| start + 3 * TTL));
    assert_eq!(end.str("lost"), None, "{}", holder.report());
    let row = eventually_async(BOUND, async || {
        let row = place.row(task).await;
        (row.state == "ready").then_some(row)
    })
    .await;
    assert_eq!(row.outcome.as_deref(), Some("succeeded"));
    assert_eq!(row.fence, number(&start, "fence"));
    let events = other.events();
    assert!(events.is_empty(), "{}", other.report());
}
