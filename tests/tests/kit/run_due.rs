//! `TestRuntime::run_due`: how runs end, and what becomes of their jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tasklock_runtime::testing::{Ran, TestRuntime};
use tasklock_runtime::{
    Discard, Error, JobState, LeaseContext, LeaseLost, Outcome, Payload, Snooze, State, TaskResult,
    Triggered, locked_task,
};
use tokio::sync::Notify;

const MINUTE: Duration = Duration::from_secs(60);

async fn only(task: &str) -> TestRuntime {
    let built = TestRuntime::builder().only([task]).build().await;
    built.expect("it is linked and needs nothing")
}

fn outcome(ran: &[Ran]) -> &Outcome {
    match ran {
        [one] => &one.outcome,
        _ => panic!("one run, not {ran:?}"),
    }
}

#[locked_task]
async fn counts(_lease: LeaseContext, sum: State<AtomicU32>, more: Payload<u32>) {
    sum.fetch_add(*more, Ordering::SeqCst);
}

#[tokio::test]
async fn it_runs_what_is_due_with_its_parameters_in_the_order_of_a_worker() {
    let rt = TestRuntime::builder()
        .only([counts::NAME])
        .state(AtomicU32::new(0))
        .build()
        .await
        .expect("it is linked");
    let client = rt.client();
    let enqueued = counts::enqueue_many(&client, [1, 2]).await;
    let [first, second] = enqueued.expect("memory takes them")[..] else {
        panic!("two jobs");
    };
    let urgent = counts::enqueue(&client, 4).priority(9).await;
    let later = counts::enqueue(&client, 8).delay(MINUTE).await;
    let ran = rt.run_due().await;
    let jobs: Vec<i64> = ran.iter().map(|ran| ran.job).collect();
    let urgent = urgent.expect("memory takes it").id();
    assert_eq!(jobs, [urgent, first.id(), second.id()]);
    for ran in &ran {
        assert_eq!((&*ran.task, ran.attempt), (counts::NAME, 1));
        assert_eq!(ran.outcome, Outcome::Succeeded);
        assert_eq!(ran.scheduled_for, rt.now());
    }
    assert_eq!(rt.run_due().await, []);
    assert_eq!(rt.advance_to_next().await, Some(MINUTE));
    let ran = rt.run_due().await;
    assert_eq!(ran[0].job, later.expect("memory takes it").id());
    let job = client.job(first.id()).await.expect("memory answers");
    assert_eq!(job.map(|job| job.state), Some(JobState::Done));
}

#[tokio::test]
async fn a_missing_state_is_found_when_it_is_built() {
    let built = TestRuntime::builder().only([counts::NAME]).build().await;
    assert!(matches!(built, Err(Error::Tasks(_))), "{built:?}");
}

#[locked_task(retries = 2, backoff = "1m..1m")]
async fn fails_in_its_way(lease: LeaseContext, way: Payload<String>) -> TaskResult {
    match &**way {
        "panics" => panic!("no"),
        "snoozes" if lease.scheduled_for().as_second() % 60 == 0 => {
            Err(Snooze::new(Duration::from_secs(10)))?
        }
        "discards" => Err(Discard::new("gone"))?,
        "fails" => Err("no")?,
        _ => Ok(()),
    }
}

#[tokio::test]
async fn errors_are_retried_after_their_backoff_until_the_job_is_dead() {
    let rt = only(fails_in_its_way::NAME).await;
    let client = rt.client();
    let job = fails_in_its_way::enqueue(&client, "fails".into()).await;
    let job = job.expect("memory takes it").id();
    for attempt in 1..=3 {
        let ran = rt.run_due().await;
        assert_eq!(ran[0].attempt, attempt);
        assert_eq!(outcome(&ran).error().as_deref(), Some("no"));
        rt.advance(MINUTE - Duration::from_micros(1)).await;
        assert_eq!(rt.run_due().await, []);
        rt.advance(Duration::from_micros(1)).await;
    }
    assert_eq!(rt.run_due().await, []);
    assert_eq!(rt.advance_to_next().await, None);
    let job = client.job(job).await.expect("memory answers");
    assert_eq!(job.map(|job| job.state), Some(JobState::Dead));
}

#[tokio::test]
async fn panics_and_verdicts_are_outcomes() {
    let rt = only(fails_in_its_way::NAME).await;
    let client = rt.client();
    for (way, expected) in [
        ("panics", "panicked"),
        ("discards", "discarded"),
        ("snoozes", "snoozed"),
    ] {
        let job = fails_in_its_way::enqueue(&client, way.into()).await;
        let job = job.expect("memory takes it").id();
        let ran = rt.run_due().await;
        assert_eq!(outcome(&ran).as_str(), expected);
        let cancelled = client.cancel(job).await;
        assert!(cancelled.is_ok(), "{cancelled:?}");
    }
}

#[locked_task(timeout = "10m")]
async fn never_ends(_lease: LeaseContext) {
    std::future::pending().await
}

/// Ten minutes by tokio's clock, which is paused: no time at all.
#[tokio::test(start_paused = true)]
async fn a_timeout_ends_the_run_by_tokios_clock() {
    let rt = only(never_ends::NAME).await;
    let triggered = never_ends::trigger(&rt.client()).await;
    assert_eq!(triggered.ok(), Some(Triggered::Queued));
    let before = rt.now();
    let ran = rt.run_due().await;
    assert_eq!(outcome(&ran), &Outcome::TimedOut(10 * MINUTE));
    assert_eq!(rt.now(), before);
}

#[locked_task]
fn is_blocking(lease: LeaseContext, more: Payload<u32>) -> TaskResult {
    lease.blocking_renew()?;
    if *more == 0 {
        panic!("nothing");
    }
    Ok(())
}

#[tokio::test]
async fn plain_functions_run_too() {
    let rt = only(is_blocking::NAME).await;
    let client = rt.client();
    let enqueued = is_blocking::enqueue(&client, 1).await;
    assert!(enqueued.is_ok());
    assert_eq!(outcome(&rt.run_due().await), &Outcome::Succeeded);
    let enqueued = is_blocking::enqueue(&client, 0).await;
    assert!(enqueued.is_ok());
    assert_eq!(outcome(&rt.run_due().await).as_str(), "panicked");
}

#[locked_task(ttl = "30s")]
async fn holds_on(lease: LeaseContext, started: State<Notify>, go_on: State<Arc<Notify>>) {
    if lease.attempt() == 1 {
        started.notify_one();
        go_on.notified().await;
    }
}

async fn holding_on() -> (TestRuntime, Arc<Notify>) {
    let go_on = Arc::new(Notify::new());
    let rt = TestRuntime::builder()
        .only([holds_on::NAME])
        .state(Notify::new())
        .state(Arc::clone(&go_on))
        .build()
        .await
        .expect("it is linked");
    let triggered = holds_on::trigger(&rt.client()).await;
    assert_eq!(triggered.ok(), Some(Triggered::Queued));
    (rt, go_on)
}

#[tokio::test]
async fn a_lease_is_renewed_while_time_passes() {
    let (rt, go_on) = holding_on().await;
    let (ran, ()) = tokio::join!(rt.run_due(), async {
        rt.advance(60 * MINUTE).await;
        go_on.notify_one();
    });
    assert_eq!(outcome(&ran), &Outcome::Succeeded);
}

#[tokio::test]
async fn a_suspended_process_loses_its_run_and_the_job_runs_again_when_the_lease_expires() {
    let (rt, _go_on) = holding_on().await;
    let (ran, ()) = tokio::join!(rt.run_due(), rt.suspend(Duration::from_secs(25)));
    assert_eq!(outcome(&ran), &Outcome::Lost(LeaseLost::Suspended));
    // By the store's clock it is not over yet.
    assert_eq!(rt.run_due().await, []);
    // And one microsecond: the last moment of a lease is its holder's.
    let left = Duration::from_secs(5) + Duration::from_micros(1);
    assert_eq!(rt.advance_to_next().await, Some(left));
    let ran = rt.run_due().await;
    assert_eq!((ran[0].attempt, outcome(&ran)), (2, &Outcome::Succeeded));
}

#[tokio::test]
async fn named_leases_follow_the_same_clock() {
    let rt = only(never_ends::NAME).await;
    let lease = || rt.client().lease("tenant:42").ttl(MINUTE);
    let first = lease().try_acquire().await.expect("memory answers");
    let first = first.expect("it is free");
    rt.advance(60 * MINUTE).await;
    assert_eq!(first.check(), Ok(()));
    let second = lease().try_acquire().await.expect("memory answers");
    assert!(second.is_none());
    rt.suspend(2 * MINUTE).await;
    assert_eq!(first.check(), Err(LeaseLost::Suspended));
    let second = lease().try_acquire().await.expect("memory answers");
    assert!(second.is_some_and(|second| second.fence() > first.fence()));
}
