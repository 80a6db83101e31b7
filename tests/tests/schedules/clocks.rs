//! Four workers, whose clocks are 3 minutes slow, right, 3 minutes fast, and stepping to and fro by an hour: each slot of a
//! schedule by the second is run to its end exactly once.
//!
//! On Postgres the clock is the server's, and the workers' are as good as not there: runs are on time, too. On SQLite each
//! worker reads its own, as if somebody set the machine's clock all the time: leases expire before they were given, and a
//! worker that is ahead runs slots of the future. Still no slot ends twice, and none is left out.

use std::time::Duration;

use tasklock_test_support::process::Worker;
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::{BOUND, Place, spread};

use crate::clock::worker_at;
use crate::log;

const SLOTS: usize = 100;
const SECOND: i64 = 1_000_000;
/// Ahead by so many seconds, stepping by so many, each so many seconds.
const CLOCKS: [(i64, i64, i64); 4] = [(-180, 0, 0), (0, 0, 0), (180, 0, 0), (0, 3_600, 5)];

on_both! { beside: each_slot_ends_once_whatever_the_clocks_show }

async fn each_slot_ends_once_whatever_the_clocks_show(place: Place) {
    log::start(&place).await;
    let workers = CLOCKS.map(|clock| worker_at(&place.url(), "clocked", clock));
    assert_clocks_are_wrong(&workers).await;
    let bound = BOUND + Duration::from_secs(3 * 100);
    let ends = eventually_async(bound, async || {
        for worker in &workers {
            assert!(worker.ended().is_none(), "{}", worker.report());
        }
        let ends = log::ends(&place, "clocked").await;
        (ends.len() >= SLOTS).then_some(ends)
    })
    .await;

    for (nth, (slot, outcome)) in (0..).zip(&ends) {
        assert_eq!(*slot, ends[0].0 + nth * SECOND, "each slot once: {ends:?}");
        assert_eq!(outcome, "succeeded");
    }
    assert_eq!(log::counted(&place, "clocked").await, (0, 0));
    let runs = log::runs_of(&place, "clocked").await;
    let kind = place.kind();
    if matches!(place, Place::Postgres(_)) {
        let slots: Vec<i64> = runs.iter().map(|run| run.slot).collect();
        assert!(
            slots.is_sorted_by(|one, two| one < two),
            "a run each: {slots:?}"
        );
        let late = runs.iter().map(|run| u64::try_from(run.started - run.slot));
        let late: Result<Vec<_>, _> = late.map(|late| late.map(Duration::from_micros)).collect();
        let mut late = late.expect("none is early");
        log::print(&format!(
            "{kind}: {} slots by four clocks, each once; late by {}",
            ends.len(),
            spread(&mut late)
        ));
    } else {
        log::print(&format!(
            "{kind}: {} slots by four clocks, each once, in {} runs",
            ends.len(),
            runs.len()
        ));
    }
}

/// What they tell of their runs and starts is by their clocks.
async fn assert_clocks_are_wrong(workers: &[Worker; 4]) {
    let right = std::time::SystemTime::now();
    let since = right
        .duration_since(std::time::UNIX_EPOCH)
        .expect("it is later");
    let right = i64::try_from(since.as_secs()).expect("it fits");
    for (worker, (base, step, _)) in workers.iter().zip(CLOCKS) {
        let told = eventually_async(BOUND, async || first_instant(&worker.stderr())).await;
        let off = told - right;
        let is_right = [base + step, base - step]
            .iter()
            .any(|ahead| (off - ahead).abs() < 60);
        assert!(
            is_right,
            "{off} s, not {base} ± {step}: {}",
            worker.stderr()
        );
    }
}

/// The instant with which the first line of a log starts, in seconds since 1970.
fn first_instant(log: &str) -> Option<i64> {
    let word = log.lines().next()?.split_whitespace().next()?;
    let instant: jiff::Timestamp = word.parse().ok()?;
    Some(instant.as_second())
}
