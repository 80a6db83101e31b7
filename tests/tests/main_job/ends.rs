//! Runs that end badly: the row says how, and the next slot runs.

use crate::support::{BOUND, Place, Row, number, start_of, worker};

on_both! {
    beside: an_error_is_kept_and_the_next_slot_runs,
    beside: a_panic_is_kept_and_the_next_slot_runs,
    beside: a_timeout_drops_the_handler_and_the_next_slot_runs,
}

async fn an_error_is_kept_and_the_next_slot_runs(place: Place) {
    let row = ended(&place, "fail").await;
    assert_eq!(row.outcome.as_deref(), Some("failed"));
    let error = row.error.expect("it is kept");
    assert!(error.contains("the page number is wrong"), "{error}");
}

async fn a_panic_is_kept_and_the_next_slot_runs(place: Place) {
    let row = ended(&place, "panic").await;
    assert_eq!(row.outcome.as_deref(), Some("panicked"));
    let error = row.error.expect("it is kept");
    let place = "the drawer is stuck at tests/src/bin/main_job_worker/";
    assert!(error.contains(place), "{error}");
}

async fn a_timeout_drops_the_handler_and_the_next_slot_runs(place: Place) {
    let row = ended(&place, "overrun").await;
    assert_eq!(row.outcome.as_deref(), Some("timed_out"));
    let error = row.error.expect("it is kept");
    assert!(error.contains("100ms"), "{error}");
}

/// The row after three slots.
async fn ended(place: &Place, task: &str) -> Row {
    let worker = worker(&place.url(), task, &[]);
    let starts = [0; 3].map(|_| start_of(&worker));
    for pair in starts.windows(2) {
        assert!(number(&pair[0], "fence") < number(&pair[1], "fence"));
        // A slot that ended badly has ended: the next one is a first attempt.
        assert_eq!(number(&pair[1], "attempt"), 1);
    }
    if task == "overrun" {
        worker.wait_for(BOUND, |event| event.is("dropped"));
    }
    worker.term();
    assert!(worker.wait_exit(BOUND).success(), "{}", worker.report());
    let row = place.row(task).await;
    assert_eq!((&*row.state, row.crashes), ("ready", 0));
    row
}
