//! A machine that was suspended for many slots makes up for them by one run, and goes on as before.

use std::time::Duration;

use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::{BOUND, Place, cpu};

use crate::log::{self, PERIOD};

const SLOTS: i64 = 40;

on_both! { beside: a_process_that_was_stopped_neither_storms_nor_spins }

async fn a_process_that_was_stopped_neither_storms_nor_spins(place: Place) {
    log::start(&place).await;
    let worker = log::up(&place, "once", &[]);
    log::ran(&place, "once", 0, 3).await;
    worker.stop();
    let gone = log::now(&place).await;
    eventually_async(BOUND, async || {
        (log::now(&place).await >= gone + SLOTS * PERIOD).then_some(())
    })
    .await;
    let (back, used) = (log::now(&place).await, cpu(&worker));
    worker.cont();
    // The run that was under way, if there was one, the one that makes up for the slots, and nine by the clock.
    let runs = log::ran(&place, "once", back, 11).await;
    let [first, .., last] = &runs[..] else {
        panic!("{runs:?}");
    };
    let due = (last.slot - first.started) / PERIOD + 3;
    assert!(
        runs.len() as i64 <= due,
        "{} runs, {due} at the most: {runs:?}",
        runs.len()
    );
    let made_up = runs.iter().filter(|run| run.slot <= back - PERIOD).count();
    assert!(made_up <= 2, "{runs:?}");
    let used = cpu(&worker).saturating_sub(used);
    assert!(used < Duration::from_secs(2), "{used:?} of processor time");
    log::down(worker);
    log::print(&format!(
        "{}: stopped for {SLOTS} slots: {made_up} run late, {} more by the clock, {used:?} of processor time",
        place.kind(),
        runs.len() - made_up,
    ));
}
