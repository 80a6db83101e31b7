//! `on_lost = "exit"` while the store can be reached: the other leases are given back first.

use std::time::Duration;

use crate::support::{BOUND, Place, number, print, ready, start_of, worker};

on_both! {
    beside: the_other_leases_are_given_back,
    beside: a_job_that_its_handler_completed_is_no_loss,
}

async fn a_job_that_its_handler_completed_is_no_loss(place: Place) {
    let worker = worker(&place.url(), "exit_completed", &[]);
    start_of(&worker);
    worker.wait_for(BOUND, |event| event.is("end"));
    worker.term();
    assert!(worker.wait_exit(BOUND).success(), "{}", worker.report());
    let row = place.row("exit_completed").await;
    assert_eq!(row.outcome.as_deref(), Some("succeeded"));
}

async fn the_other_leases_are_given_back(place: Place) {
    let leaving = worker(&place.url(), "exit,hold_long", &[]);
    leaving.wait_for(BOUND, |event| {
        event.is("start") && event.str("task") == Some("exit")
    });
    let held = leaving.wait_for(BOUND, |event| event.is("start"));
    let staying = worker(&place.url(), "hold_long", &[]);
    ready(&staying);
    place
        .run(
            "UPDATE tasklock_job SET fence = fence + 1, lock_owner = 'a thief'
             WHERE task = 'exit'",
        )
        .await;
    let status = leaving.wait_exit(BOUND);
    assert_eq!(status.code(), Some(75), "{}", leaving.report());
    let said = leaving.stderr();
    assert!(said.contains("ends the process"), "{said}");
    let next = staying.wait_for(BOUND, |event| event.is("start"));
    assert!(number(&next, "fence") > number(&held, "fence"));
    assert_eq!(
        number(&next, "attempt"),
        number(&held, "attempt"),
        "{said}\n{}",
        staying.report()
    );
    let row = place.row("hold_long").await;
    assert_eq!(row.crashes, 0, "it was given back, not taken over");
    let took = next.boottime().expect("it tells") - held.boottime().expect("it tells");
    assert!(took < Duration::from_secs(8), "{took:?} of a ttl of 10 s");
    print(&format!(
        "{}: on_lost = exit: code 75, its other lease started elsewhere, not taken over",
        place.kind()
    ));
}
