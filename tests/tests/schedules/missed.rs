//! Nobody is there for 50 slots; then somebody comes. How many are run is what `missed` says.

use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::{BOUND, Place};

use crate::log::{self, PERIOD, Run};

const AWAY: i64 = 50;
const TASKS: [&str; 5] = ["once", "skip", "all", "newest", "recent"];

on_both! { beside: so_many_missed_slots_are_run_as_the_task_says }

async fn so_many_missed_slots_are_run_as_the_task_says(place: Place) {
    log::start(&place).await;
    let tasks = TASKS.join(",");
    let first = log::up(&place, &tasks, &[]);
    for task in TASKS {
        log::ran(&place, task, 0, 3).await;
    }
    log::down(first);
    let gone = log::now(&place).await;
    eventually_async(BOUND, async || {
        (log::now(&place).await >= gone + (AWAY + 1) * PERIOD).then_some(())
    })
    .await;
    let back = log::now(&place).await;
    let second = log::up(&place, &tasks, &[]);
    for task in TASKS {
        eventually_async(BOUND, async || {
            let runs = log::runs_of(&place, task).await;
            runs.iter()
                .any(|run| run.slot > back + PERIOD)
                .then_some(())
        })
        .await;
    }
    log::down(second);

    for task in TASKS {
        let runs = log::runs_of(&place, task).await;
        log::assert_in_order(&runs, PERIOD);
        let (before, after): (Vec<Run>, Vec<Run>) =
            runs.iter().cloned().partition(|run| run.started <= gone);
        let (last, first) = (&before[before.len() - 1], &after[0]);
        // While somebody was away, as seen by the next run.
        let missed = (first.started - last.slot) / PERIOD;
        assert!(missed >= AWAY, "{missed}");
        let made_up = after.iter().filter(|run| run.slot <= back).count();
        let late = first.started - first.slot;
        match task {
            "once" => {
                assert_eq!(first.slot, last.slot + PERIOD, "the first of them");
                assert_eq!(made_up, 1);
            }
            "skip" => assert_eq!(made_up, 0),
            "all" => assert!(made_up as i64 >= AWAY, "{made_up}"),
            "newest" => {
                let waiting = late / PERIOD + 1;
                // Some may have fallen due between the claim and the note of its run, which comes by a connection of its own.
                assert!((20..=25).contains(&waiting), "{waiting}");
            }
            _ => {
                let too_old = first.started - (first.slot - PERIOD);
                assert!(too_old > 2_000_000 && late < 5_000_000, "{too_old} {late}");
            }
        }
        // Each slot was run, or counted.
        let slots = (runs[runs.len() - 1].slot - runs[0].slot) / PERIOD + 1;
        let (missed, skipped) = log::counted(&place, task).await;
        let counted = runs.len() as i64 + missed + skipped;
        // Those between the last run and the stop may be counted already.
        assert!(
            (slots..=slots + 15).contains(&counted),
            "{task}: {slots} slots, {counted} counted"
        );
        match task {
            "once" => assert!(missed >= AWAY - 1 && skipped == 0, "{missed} {skipped}"),
            "all" => assert_eq!((missed, skipped), (0, 0)),
            "skip" => assert!(skipped >= AWAY, "{missed} {skipped}"),
            _ => assert!(missed == 0 && skipped > 0, "{missed} {skipped}"),
        }
        log::print(&format!(
            "{}: away for {} slots, `{task}`: {made_up} of them run, {missed} missed, {skipped} skipped",
            place.kind(),
            (back - last.slot) / PERIOD,
        ));
    }
}
