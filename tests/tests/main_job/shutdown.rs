//! A worker that is asked to stop: its handlers hear of it, what has stopped is given back, what has
//! not is not, and leases are renewed to the end.

use std::time::Duration;

use tasklock_test_support::process::{Worker, boottime};
use tasklock_test_support::wait::eventually;

use crate::support::{BOUND, Place, next_start, number, print, ready, start_of, worker};

const GRACE: &str = "TASKLOCK_SHUTDOWN_GRACE";

on_both! {
    beside: a_handler_that_hears_of_it_ends_as_usual,
    beside: a_handler_that_does_not_is_dropped_and_given_back,
    beside: a_second_signal_ends_the_grace_period,
    beside: a_blocking_handler_is_not_given_back,
}

/// It takes three times its ttl for that, and another worker waits for its lease.
async fn a_handler_that_hears_of_it_ends_as_usual(place: Place) {
    let leaving = worker(&place.url(), "drain", &[(GRACE, "20s")]);
    let start = start_of(&leaving);
    let staying = worker(&place.url(), "drain", &[]);
    ready(&staying);
    leaving.term();
    let told = leaving.wait_for(BOUND, |event| event.is("shutdown"));
    assert_eq!(told.get("seen"), Some(&true.into()));
    let end = leaving.wait_for(BOUND, |event| event.is("end"));
    assert_eq!(end.str("lost"), None, "{}", leaving.report());
    ended_well(&leaving);
    let row = place.row("drain").await;
    assert_eq!(
        (&*row.state, row.outcome.as_deref(), row.fence),
        ("ready", Some("succeeded"), number(&start, "fence"))
    );
    assert!(staying.events().is_empty(), "{}", staying.report());
}

async fn a_handler_that_does_not_is_dropped_and_given_back(place: Place) {
    let leaving = worker(&place.url(), "ignore", &[(GRACE, "300ms")]);
    let start = start_of(&leaving);
    let staying = worker(&place.url(), "ignore", &[]);
    ready(&staying);
    leaving.term();
    let dropped = leaving.wait_for(BOUND, |event| event.is("dropped"));
    assert_eq!(dropped.str("lost"), None, "{}", leaving.report());
    let next = next_start(&[&staying], &start);
    ended_well(&leaving);
    // The attempt was not used.
    assert_eq!(number(&next, "attempt"), number(&start, "attempt"));
    let took = next.boottime().expect("it tells") - dropped.boottime().expect("it tells");
    assert!(took < Duration::from_secs(5), "{took:?} of a ttl of 30 s");
    print(&format!(
        "{}: given back at shutdown, started elsewhere {took:.0?} after the drop",
        place.kind()
    ));
}

async fn a_second_signal_ends_the_grace_period(place: Place) {
    let leaving = worker(&place.url(), "ignore", &[(GRACE, "10m")]);
    start_of(&leaving);
    let asked = boottime();
    leaving.term();
    // Two signals that are both pending are one.
    eventually(BOUND, || leaving.stderr().contains("SIGTERM:"));
    assert!(leaving.events().iter().all(|event| !event.is("dropped")));
    leaving.interrupt();
    leaving.wait_for(BOUND, |event| event.is("dropped"));
    ended_well(&leaving);
    assert!(boottime() - asked < Duration::from_secs(30));
    let row = place.row("ignore").await;
    assert_eq!((&*row.state, row.attempt), ("ready", 0));
}

/// It outlives the grace period, and several times its ttl.
async fn a_blocking_handler_is_not_given_back(place: Place) {
    let leaving = worker(&place.url(), "block_at_shutdown", &[(GRACE, "300ms")]);
    let start = start_of(&leaving);
    let staying = worker(&place.url(), "block_at_shutdown", &[]);
    ready(&staying);
    leaving.term();
    let end = leaving.wait_for(BOUND, |event| event.is("end"));
    assert_eq!(end.str("lost"), None, "{}", leaving.report());
    let next = next_start(&[&staying], &start);
    assert!(
        next.boottime() > end.boottime(),
        "{}\n{}",
        leaving.report(),
        staying.report()
    );
    ended_well(&leaving);
}

#[track_caller]
fn ended_well(worker: &Worker) {
    let status = worker.wait_exit(BOUND);
    assert_eq!(status.code(), Some(0), "{}", worker.report());
}
