//! Handlers that end with a text of 50 MB: it is cut, and nobody else notices.

use crate::support::{BOUND, Place, number, worker};

/// What is kept of a text, in bytes, and the words before it.
const MOST: usize = 4096 + "panicked: ".len();

on_both! { beside: a_huge_text_is_cut_and_costs_no_lease }

async fn a_huge_text_is_cut_and_costs_no_lease(place: Place) {
    let worker = worker(&place.url(), "hold,huge_error,huge_panic", &[]);
    let held = worker.wait_for(BOUND, |event| event.str("task") == Some("hold"));
    for task in ["huge_error", "huge_panic"] {
        for _ in 0..3 {
            let start = worker.wait_for(BOUND, |event| event.str("task") == Some(task));
            assert_eq!(number(&start, "attempt"), 1, "{}", worker.report());
        }
    }
    let row = place.row("hold").await;
    assert_eq!(
        (row.fence, &*row.state),
        (number(&held, "fence"), "running")
    );
    let lost = worker.events().iter().any(|event| event.is("end"));
    assert!(!lost, "{}", worker.report());
    worker.term();
    assert!(worker.wait_exit(BOUND).success(), "{}", worker.report());
    for (task, outcome) in [("huge_error", "failed"), ("huge_panic", "panicked")] {
        let row = place.row(task).await;
        assert_eq!((row.outcome.as_deref(), row.crashes), (Some(outcome), 0));
        let error = row.error.expect("it is kept");
        assert!(
            error.contains("ää") && error.len() <= MOST,
            "{}",
            error.len()
        );
    }
}
