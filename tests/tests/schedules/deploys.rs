//! Versions that differ in a task's schedule, side by side and one after the other.

use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::{BOUND, Place};

use crate::log::{self, PERIOD};

const SECOND: i64 = 1_000_000;
/// The variable by which another version's schedule is put in the place of the attribute's.
const INSTEAD: &str = "TASKLOCK_SCHEDULE_ONCE";

on_both! {
    beside: the_version_that_started_last_says_the_schedule,
    beside: a_schedule_is_switched_off_and_on_without_a_rebuild,
    beside: each_version_runs_once_at_its_start,
    beside: a_cron_runs_by_its_slots,
}

async fn schedule(place: &Place, task: &str) -> String {
    let rows = place
        .run(&format!(
            "SELECT schedule FROM tasklock_job WHERE task = '{task}'"
        ))
        .await;
    rows[0][0].clone().expect("it has one")
}

async fn the_version_that_started_last_says_the_schedule(place: Place) {
    log::start(&place).await;
    let old = log::up(&place, "once", &[]);
    log::ran(&place, "once", 0, 3).await;
    let new = log::up(&place, "once", &[(INSTEAD, "cron * * * * * *")]);
    let deployed = log::now(&place).await;
    // Both run what is due, the old one more readily; all of it by the new schedule, but for what was under way or due.
    let runs = log::ran(&place, "once", deployed, 6).await;
    for run in &runs[2..] {
        assert_eq!(run.slot % SECOND, 0, "{runs:?}");
    }
    assert_eq!(schedule(&place, "once").await, "cron * * * * * *");
    log::down(new);
    let alone = log::now(&place).await;
    let runs = log::ran(&place, "once", alone, 3).await;
    for run in &runs {
        assert_eq!(
            (run.slot % SECOND, run.worker),
            (0, i64::from(old.pid())),
            "{runs:?}"
        );
    }
    // Somebody goes back to the old version.
    let again = log::up(&place, "once", &[]);
    assert_eq!(schedule(&place, "once").await, "every 200ms");
    let back = log::now(&place).await;
    let runs = log::ran(&place, "once", back, 12).await;
    let often = runs.iter().filter(|run| run.slot % SECOND != 0).count();
    assert!(often >= 6, "{runs:?}");
    log::down(again);
    log::down(old);
    let runs = log::runs_of(&place, "once").await;
    log::assert_in_order(&runs, PERIOD);
}

async fn a_schedule_is_switched_off_and_on_without_a_rebuild(place: Place) {
    log::start(&place).await;
    let worker = log::up(&place, "once,skip", &[(INSTEAD, "off")]);
    assert!(
        worker
            .stderr()
            .contains("off (TASKLOCK_SCHEDULE_ONCE, not every 200ms)"),
        "{}",
        worker.stderr()
    );
    log::ran(&place, "skip", 0, 5).await;
    assert_eq!(log::runs_of(&place, "once").await, []);
    let store = place.store().await;
    store.trigger("once").await.expect("the store is there");
    let runs = log::ran(&place, "once", 0, 1).await;
    let extra = runs[0].slot;
    let now = log::now(&place).await;
    log::ran(&place, "skip", now, 5).await;
    assert_eq!(log::runs_of(&place, "once").await.len(), 1);
    log::down(worker);
    let worker = log::up(&place, "once,skip", &[]);
    let runs = log::ran(&place, "once", now, 3).await;
    assert!(runs.iter().all(|run| run.slot > extra));
    log::assert_in_order(&runs, PERIOD);
    store.close().await;
    log::down(worker);
}

async fn each_version_runs_once_at_its_start(place: Place) {
    log::start(&place).await;
    let starts = async |version: Option<&str>, runs: usize| {
        let version = version.map(|version| ("TASKLOCK_VERSION", version));
        let workers = [(); 2].map(|()| log::up(&place, "warm_up,once", version.as_slice()));
        log::ran(&place, "warm_up", 0, runs).await;
        let now = log::now(&place).await;
        log::ran(&place, "once", now, 3).await;
        for worker in workers {
            log::down(worker);
        }
        assert_eq!(
            log::runs_of(&place, "warm_up").await.len(),
            runs,
            "{version:?}"
        );
    };
    starts(None, 1).await;
    starts(None, 1).await;
    starts(Some("2"), 2).await;
    starts(Some("3"), 3).await;
    // Somebody goes back.
    starts(Some("2"), 3).await;
    starts(None, 3).await;
}

async fn a_cron_runs_by_its_slots(place: Place) {
    log::start(&place).await;
    let workers = [(); 2].map(|()| log::up(&place, "calendar", &[]));
    let runs = eventually_async(BOUND, async || {
        let runs = log::runs_of(&place, "calendar").await;
        (runs.len() >= 5).then_some(runs)
    })
    .await;
    log::assert_in_order(&runs, SECOND);
    assert!(runs.iter().all(|run| run.started >= run.slot));
    assert_eq!(
        schedule(&place, "calendar").await,
        "cron * * * * * * in Europe/Berlin"
    );
    for worker in workers {
        log::down(worker);
    }
}
