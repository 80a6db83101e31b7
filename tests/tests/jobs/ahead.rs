//! Jobs that a worker claims before it has a slot for them.

use std::time::Duration;

use tasklock_test_support::wait::eventually_async;

use crate::support::{BOUND, Place, client, count, ended_well, print, ready, stop, worker};

const JOBS: i64 = 3_000;
const RUNNING: &str = "SELECT count(*) FROM tasklock_job WHERE state = 'running'";

on_both! {
    beside: what_waits_for_a_slot_goes_back_at_the_stop,
    beside: long_runs_are_not_claimed_ahead,
}

async fn what_waits_for_a_slot_goes_back_at_the_stop(place: Place) {
    let client = client(&place).await;
    let jobs = client.enqueue_many("keyed", 0..JOBS).await;
    jobs.expect("the database takes them");
    let leaving = worker(&place, "keyed", &[("TASKLOCK_CONCURRENCY", "4")]);
    let mut most = 0;
    eventually_async(BOUND, async || {
        most = count(&place, RUNNING).await;
        (most > 4).then_some(())
    })
    .await;
    leaving.term();
    ended_well(&leaving);
    let of = async |what: &str| {
        let query = format!("SELECT count(*) FROM tasklock_job WHERE {what}");
        count(&place, &query).await
    };
    let done = of("state = 'done' AND attempt = 1 AND crashes = 0").await;
    let waiting = of("state = 'ready' AND attempt = 0 AND crashes = 0").await;
    assert!(done > 0 && waiting > 0, "{done}, {waiting}");
    assert_eq!(done + waiting, JOBS, "{}", leaving.report());
    print(&format!(
        "{}: a worker of 4 slots had {most} jobs of 5 ms; asked to stop, it left none of {JOBS} running: {done} done, \
         {waiting} as they were",
        place.kind()
    ));
}

/// Another worker may have a slot for them.
async fn long_runs_are_not_claimed_ahead(place: Place) {
    let client = client(&place).await;
    let worker = worker(&place, "slow,keyed", &[("TASKLOCK_CONCURRENCY", "2")]);
    ready(&worker);
    let jobs = client.enqueue_many("slow", 0..10_i64).await;
    jobs.expect("the database takes them");
    let left = "SELECT count(*) FROM tasklock_job WHERE state IN ('ready', 'running')";
    while count(&place, left).await > 0 {
        let running = count(&place, RUNNING).await;
        // Two run, and the ends of two others may not be written yet.
        assert!(running <= 4, "{running} are claimed");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    stop(&worker);
}
