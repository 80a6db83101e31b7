//! A worker that is asked to stop while its jobs run: what has stopped runs elsewhere at once, and no
//! attempt is used.

use std::time::Duration;

use tasklock_runtime::JobState;
use tasklock_test_support::process::{Worker, boottime};

use crate::support::{
    BOUND, Place, all_over, client, ended_well, number, print, ready, start_of, stop, worker,
};

const JOBS: i64 = 8;

on_both! {
    beside: what_is_dropped_runs_elsewhere_at_once,
    beside: a_blocking_handler_that_ends_within_the_grace_is_written,
    beside: one_that_goes_on_keeps_its_lease_until_it_expires,
    beside: the_process_ends_beside_a_thread_that_goes_on,
    beside: one_that_runs_too_long_loses_its_lease,
}

fn grace(time: &str) -> (&str, &str) {
    ("TASKLOCK_SHUTDOWN_GRACE", time)
}

async fn what_is_dropped_runs_elsewhere_at_once(place: Place) {
    let client = client(&place).await;
    let jobs = client.enqueue_many("ignores", 0..JOBS).await;
    let jobs = jobs.expect("the database takes them");
    let leaving = worker(&place, "ignores", &[grace("300ms")]);
    for _ in &jobs {
        start_of(&leaving);
    }
    let staying = worker(&place, "ignores", &[grace("10ms")]);
    ready(&staying);
    leaving.term();
    let dropped = leaving.wait_for(BOUND, |event| event.is("dropped"));
    let mut last = Duration::ZERO;
    for _ in &jobs {
        let start = start_of(&staying);
        assert_eq!((number(&start, "attempt"), number(&start, "fence")), (1, 2));
        last = last.max(start.boottime().expect("it tells"));
    }
    ended_well(&leaving);
    let took = last - dropped.boottime().expect("it tells");
    assert!(took < Duration::from_secs(5), "{took:?} of a ttl of 30 s");
    for job in jobs {
        let job = client.job(job.id()).await.ok().flatten();
        let job = job.expect("it is there");
        assert_eq!(
            (job.state, job.attempt, job.crashes),
            (JobState::Running, 1, 0)
        );
    }
    stop(&staying);
    print(&format!(
        "{}: {JOBS} jobs whose worker was asked to stop: started elsewhere within {took:.0?} of the drop",
        place.kind()
    ));
}

async fn a_blocking_handler_that_ends_within_the_grace_is_written(place: Place) {
    let client = client(&place).await;
    let job = client.enqueue("drains", &0).await.expect("it is taken");
    let leaving = worker(&place, "drains", &[grace("30s")]);
    start_of(&leaving);
    leaving.term();
    // Twice its ttl later: renewed all the while.
    let end = leaving.wait_for(BOUND, |event| event.is("end"));
    assert_eq!(end.str("lost"), None, "{}", leaving.report());
    ended_well(&leaving);
    let job = client.job(job.id()).await.ok().flatten();
    let job = job.expect("it is kept");
    assert_eq!((job.state, job.attempt, job.fence), (JobState::Done, 1, 1));
}

/// `run()` returns; then the lease is not renewed any more, which the handler sees, and it expires.
async fn one_that_goes_on_keeps_its_lease_until_it_expires(place: Place) {
    let client = client(&place).await;
    client.enqueue("goes_on", &0).await.expect("it is taken");
    let leaving = worker(&place, "goes_on", &[grace("300ms")]);
    start_of(&leaving);
    let staying = worker(&place, "goes_on", &[grace("300ms"), ("WORKER_LEAVES", "1")]);
    ready(&staying);
    leaving.term();
    let returned = leaving.wait_for(BOUND, |event| event.is("returned"));
    assert_eq!(returned.get("well"), Some(&true.into()));
    let lost = leaving.wait_for(BOUND, |event| event.is("lost"));
    assert_eq!(lost.str("lost"), Some("released"), "{}", leaving.report());
    let next = start_of(&staying);
    assert_eq!((number(&next, "attempt"), number(&next, "fence")), (2, 2));
    assert!(next.boottime() > lost.boottime(), "{}", next.line);
    // The application's tokio runtime waits for its threads: the process ends after the last of them.
    let end = leaving.wait_for(BOUND, |event| event.is("end"));
    assert!(end.boottime() > next.boottime(), "{}", end.line);
    ended_well(&leaving);
}

/// Where the application does not wait for its threads.
async fn the_process_ends_beside_a_thread_that_goes_on(place: Place) {
    let client = client(&place).await;
    let job = client.enqueue("goes_on", &0).await.expect("it is taken");
    let leaving = worker(&place, "goes_on", &[grace("300ms"), ("WORKER_LEAVES", "1")]);
    start_of(&leaving);
    let asked = boottime();
    leaving.term();
    ended_well(&leaving);
    let took = boottime() - asked;
    assert!(took < Duration::from_secs(11), "{took:?}");
    assert!(!said(&leaving, "end"), "{}", leaving.report());
    let job = client.job(job.id()).await.ok().flatten();
    let job = job.expect("it is there");
    // Not given back, for its thread may have worked to the last.
    assert_eq!((job.state, job.attempt), (JobState::Running, 1));
    print(&format!(
        "{}: a blocking handler that goes on for 12 s: the process ended {took:.1?} after SIGTERM, with a \
         grace of 300 ms",
        place.kind()
    ));
}

async fn one_that_runs_too_long_loses_its_lease(place: Place) {
    let client = client(&place).await;
    let job = client.enqueue("overruns", &0).await.expect("it is taken");
    let worker = worker(&place, "overruns", &[]);
    for attempt in [1, 2] {
        let start = start_of(&worker);
        assert_eq!(number(&start, "attempt"), attempt);
        let lost = worker.wait_for(BOUND, |event| event.is("lost"));
        assert_eq!(lost.str("lost"), Some("timed_out"), "{}", worker.report());
        let took = lost.boottime().expect("it tells") - start.boottime().expect("it tells");
        assert!(took >= Duration::from_millis(450), "{took:?} of 500 ms");
    }
    all_over(&place, "overruns").await;
    stop(&worker);
    let job = client.job(job.id()).await.ok().flatten();
    let job = job.expect("it is kept");
    assert_eq!(
        (job.state, job.attempt, job.crashes),
        (JobState::Dead, 2, 0)
    );
    let error = job.last_error.as_deref();
    assert_eq!(error, Some("timed out after 500ms"));
}

fn said(worker: &Worker, event: &str) -> bool {
    worker.events().iter().any(|said| said.is(event))
}
