//! Two workers on one database: no slot runs twice, no two runs overlap, and none is missing without
//! a reason.

use std::collections::BTreeSet;
use std::time::Duration;

use tasklock_test_support::process::Worker;
use tasklock_test_support::wait::eventually;

use crate::support::{BOUND, Place, print, ready, worker};

const SLOTS: usize = 200;
/// The task's period, in microseconds.
const PERIOD: i64 = 200_000;

on_both! { beside: each_slot_runs_once }

#[derive(Debug)]
struct Run {
    fence: i64,
    slot: i64,
    worker: i64,
    started: i64,
    ended: i64,
}

async fn each_slot_runs_once(place: Place) {
    place
        .run(
            "CREATE TABLE run (fence bigint NOT NULL, slot bigint NOT NULL,
                worker bigint NOT NULL, started bigint NOT NULL, ended bigint)",
        )
        .await;
    let start = || worker(&place.url(), "slots", &[]);
    let (one, two) = (start(), start());
    ready(&one);
    ready(&two);
    eventually(BOUND + Duration::from_secs(60), || {
        runs_of(&one) + runs_of(&two) >= SLOTS
    });

    // Whoever ran less goes on when the other stops: the end of a run is not announced, and the
    // worker that wrote it knows first when the next slot is due.
    let (busy, other) = if runs_of(&one) > runs_of(&two) {
        (one, two)
    } else {
        (two, one)
    };
    stop(&busy);
    let before = runs_of(&other);
    eventually(BOUND, || runs_of(&other) >= before + 3);
    stop(&other);

    let runs = read(&place).await;
    let missing = check(&runs);
    let by: BTreeSet<i64> = runs.iter().map(|run| run.worker).collect();
    assert_eq!(by.len(), 2, "{by:?} ran");
    let counts = by.iter().map(|by| {
        let runs = runs.iter().filter(|run| run.worker == *by).count();
        runs.to_string()
    });
    print(&format!(
        "{}: {} slots of {} ms by two workers ({} runs), each once, none overlaps; \
         {missing} missing, all explained",
        place.kind(),
        runs.len(),
        PERIOD / 1_000,
        counts.collect::<Vec<_>>().join(" + "),
    ));
}

fn runs_of(worker: &Worker) -> usize {
    assert!(worker.ended().is_none(), "{}", worker.report());
    let events = worker.events();
    events.iter().filter(|event| event.is("run")).count()
}

fn stop(worker: &Worker) {
    worker.term();
    let status = worker.wait_exit(BOUND);
    assert!(status.success(), "{status}: {}", worker.report());
}

async fn read(place: &Place) -> Vec<Run> {
    let rows = place
        .run("SELECT fence, slot, worker, started, ended FROM run ORDER BY fence, started")
        .await;
    let number = |row: &[Option<String>], column: usize| -> i64 {
        let text = row[column].as_deref();
        let text = text.unwrap_or_else(|| panic!("a run without its end: {row:?}"));
        text.parse().expect("a number")
    };
    rows.iter()
        .map(|row| Run {
            fence: number(row, 0),
            slot: number(row, 1),
            worker: number(row, 2),
            started: number(row, 3),
            ended: number(row, 4),
        })
        .collect()
}

/// Holds the rows to what is promised; answers how many slots are missing.
fn check(runs: &[Run]) -> i64 {
    assert!(runs.len() >= SLOTS, "{} runs", runs.len());
    let mut missing = 0;
    for pair in runs.windows(2) {
        let [before, after] = pair else {
            unreachable!("windows of two");
        };
        assert!(before.fence < after.fence, "{pair:?}: a fence twice");
        assert!(before.slot < after.slot, "{pair:?}: a slot twice, or late");
        assert!(before.ended <= after.started, "{pair:?}: they overlap");
        let mut slot = before.slot + PERIOD;
        while slot < after.slot {
            // Then the run before it was claimed when it was due already, and covers it.
            assert!(slot < before.started, "{slot} between {pair:?} is missing");
            missing += 1;
            slot += PERIOD;
        }
    }
    missing
}
