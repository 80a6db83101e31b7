//! A backlog of long runs beside jobs that are over in a moment.

use tasklock_test_support::wait::eventually_async;

use crate::support::{BOUND, Place, all_over, client, count, print, ready, worker};

const SLOTS: &str = "4";

on_both! {
    beside: long_runs_leave_a_slot_to_the_jobs_of_another_task,
    beside: a_task_that_is_alone_has_all_slots,
}

async fn long_runs_leave_a_slot_to_the_jobs_of_another_task(place: Place) {
    let client = client(&place).await;
    let long = client.enqueue_many("ignores", 0..50_i64).await;
    long.expect("the database takes them");
    let worker = worker(&place, "ignores,keyed", &[("TASKLOCK_CONCURRENCY", SLOTS)]);
    ready(&worker);
    for _ in 0..3 {
        worker.wait_for(BOUND, |event| event.is("start"));
    }
    let short = client.enqueue_many("keyed", 0..100_i64).await;
    short.expect("the database takes them");
    all_over(&place, "keyed").await;
    // The first claim took four, when nothing was known of them; the one without a slot goes back.
    let running = "SELECT count(*) FROM tasklock_job WHERE task = 'ignores' AND state = 'running'";
    eventually_async(BOUND, async || {
        (count(&place, running).await == 3).then_some(())
    })
    .await;
    let starts = worker.events();
    let starts = starts.iter().filter(|event| event.is("start")).count();
    assert_eq!(starts, 3, "{}", worker.report());
    print(&format!(
        "{}: of {SLOTS} slots, 3 are taken by runs that do not end, and 100 jobs of another task are done \
         meanwhile",
        place.kind()
    ));
    worker.kill();
}

/// Nothing is kept free for nobody.
async fn a_task_that_is_alone_has_all_slots(place: Place) {
    let client = client(&place).await;
    let long = client.enqueue_many("ignores", 0..50_i64).await;
    long.expect("the database takes them");
    let worker = worker(&place, "ignores", &[("TASKLOCK_CONCURRENCY", SLOTS)]);
    for _ in 0..4 {
        worker.wait_for(BOUND, |event| event.is("start"));
    }
    worker.kill();
}
