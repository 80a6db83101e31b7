//! A job that takes every process down that runs it, at once, and with it the runs of jobs that share the
//! process: these must not die of it.

use tasklock_runtime::JobState;
use tasklock_test_support::wait::try_eventually_async;

use crate::support::{BOUND, Place, all_over, client, count, print, stop, worker};

/// `max_crashes`, where a task does not say.
const CRASHES: u32 = 5;
const OTHERS: i64 = 20;

on_both! { beside: it_is_dead_after_five_crashes_and_the_others_are_done }

async fn it_is_dead_after_five_crashes_and_the_others_are_done(place: Place) {
    let client = client(&place).await;
    let others = client.enqueue_many("bystander", 0..OTHERS / 2).await;
    others.expect("the database takes them");
    let bad = client.enqueue("aborts", &0).await;
    let bad = bad.expect("the database takes it").id();
    let others = client.enqueue_many("bystander", 0..OTHERS / 2).await;
    others.expect("the database takes them");
    let mut starts = 0;
    let job = loop {
        let worker = worker(&place, "aborts,bystander", &[]);
        starts += 1;
        assert!(starts < 20, "{}", worker.report());
        // Somebody starts it anew whenever it has gone.
        let ended = try_eventually_async(BOUND, async || {
            let job = client.job(bad).await.ok().flatten();
            let job = job.filter(|job| job.state.is_ended());
            (worker.ended().is_some() || job.is_some()).then_some(job)
        });
        let ended = ended.await.expect("it crashes, or is dead");
        if let Some(job) = ended {
            all_over(&place, "bystander").await;
            stop(&worker);
            break job;
        }
        assert!(worker.ended().is_some_and(|status| !status.success()));
    };
    assert_eq!((job.state, job.crashes), (JobState::Dead, CRASHES));
    assert_eq!(job.last_outcome.as_deref(), Some("poisoned"));
    let error = "not tried again: 5 of its runs ended in a crash or a lost lease";
    assert_eq!(job.last_error.as_deref(), Some(error));
    assert_eq!((starts, job.attempt), (CRASHES + 1, CRASHES + 1));
    let done = "SELECT count(*) FROM tasklock_job WHERE task = 'bystander' AND state = 'done'";
    assert_eq!(count(&place, done).await, OTHERS);
    print(&format!(
        "{}: a job that aborts its process: dead after {CRASHES} crashes, {OTHERS} others done",
        place.kind()
    ));
}
