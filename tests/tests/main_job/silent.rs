//! A database that does not answer at shutdown: the process ends all the same.

use std::time::Duration;

use tasklock_test_support::process::boottime;
use tasklock_test_support::wait::eventually;

use crate::support::{BOUND, Link, Place, print, worker};

const GRACE: Duration = Duration::from_millis(300);
/// As it is documented: for the look under way; for the last writes and for closing.
const LOOK: Duration = Duration::from_secs(2);
const REST: Duration = Duration::from_secs(5 + 5);
/// For the process itself, on a busy machine.
const SLACK: Duration = Duration::from_secs(1);

on_both! { beside: the_process_ends_within_the_bound }

async fn the_process_ends_within_the_bound(place: Place) {
    let mut link = Link::to(&place).await;
    // With work that is always due, a lease that is held, and one that is to be given back.
    let more = [
        ("TASKLOCK_SHUTDOWN_GRACE", "300ms"),
        ("TASKLOCK_POLL_INTERVAL", "10ms"),
    ];
    let worker = worker(link.url(), "fail,hold,ignore", &more);
    for task in ["fail", "hold", "ignore"] {
        worker.wait_for(BOUND, |event| {
            event.is("start") && event.str("task") == Some(task)
        });
    }
    link.cut().await;
    // By then a look for work is under way, too.
    eventually(BOUND, || worker.stderr().contains("heartbeats fail"));
    let from = boottime();
    worker.term();
    eventually(BOUND, || {
        worker.stderr().contains("the grace period is over")
    });
    let over = boottime() - from;
    let status = worker.wait_exit(BOUND);
    let took = boottime() - from;
    assert_eq!(status.code(), Some(0), "{}", worker.report());
    assert!(
        over <= LOOK + GRACE + SLACK,
        "{over:?}: {}",
        worker.report()
    );
    assert!(took - over <= REST + SLACK, "{took:?}: {}", worker.report());
    print(&format!(
        "{}: no answer from the database at shutdown, with a grace period of {GRACE:?}: handlers \
         dropped after {over:.1?}, the process ended after {took:.1?}",
        place.kind()
    ));
}
