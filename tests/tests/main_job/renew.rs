//! A handler that renews its lease itself.

use tasklock_test_support::wait::eventually_async;

use crate::support::{BOUND, Place, number, start_of, worker};

/// The task's, in milliseconds.
const TTL: i64 = 3_000;
const MARGIN: i64 = TTL / 5;

on_both! { beside: renew_confirms_or_says_lost }

async fn renew_confirms_or_says_lost(place: Place) {
    let holder = worker(&place.url(), "renew", &[]);
    let start = start_of(&holder);
    let asked = holder.wait_for(BOUND, |event| event.is("renew"));
    assert_eq!(asked.str("answer"), Some("confirmed"));
    let left = number(&asked, "left_ms");
    // Trust counts from before the call.
    assert!(left <= TTL - MARGIN && left > TTL / 3, "{left} ms");
    // The store knows of it: it shows an expiry that no heartbeat can have brought yet.
    let row = eventually_async(BOUND, async || {
        let row = place.row("renew").await;
        (row.left.0 > (TTL - 500) * 1_000).then_some(row)
    })
    .await;
    assert_eq!(row.fence, number(&start, "fence"));

    place
        .run("UPDATE tasklock_job SET fence = fence + 1, lock_owner = 'a thief'")
        .await;
    let lost = holder.wait_for(BOUND, |event| {
        event.is("renew") && event.str("answer") != Some("confirmed")
    });
    assert_eq!(lost.str("answer"), Some("taken_over"), "{}", lost.line);
    assert_eq!(number(&lost, "left_ms"), 0);
    holder.term();
    assert!(holder.wait_exit(BOUND).success(), "{}", holder.report());
    let row = place.row("renew").await;
    assert_eq!(row.owner.as_deref(), Some("a thief"));
}
