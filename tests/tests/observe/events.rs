//! `Runtime::events`: each kind, in its order, by real runs.

use std::sync::Arc;
use std::time::Duration;

use tasklock_runtime::testing::TestRuntime;
use tasklock_runtime::{
    Client, Discard, Event, EventKind, Events, LeaseContext, LeaseLost, Missed, Payload, Runtime,
    Snooze, State, TaskResult, locked_task,
};
use tasklock_test_support::sqlite;
use tokio::sync::Notify;
use tokio::time::timeout;

const BOUND: Duration = Duration::from_secs(20);
const MINUTE: Duration = Duration::from_secs(60);

/// Of what the test drives by hand nothing is awaited that has not happened.
async fn seen(events: &mut Events) -> Vec<Event> {
    let mut seen = Vec::new();
    while let Ok(Some(event)) = timeout(Duration::ZERO, events.recv()).await {
        seen.push(event.expect("the reader is fast enough"));
    }
    seen
}

fn words(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

#[locked_task(retries = 1, backoff = "1m..1m")]
async fn comes_to_an_end(_lease: LeaseContext, way: Payload<String>) -> TaskResult {
    match &**way {
        "fails" => Err("no")?,
        "panics" => panic!("no"),
        "snoozes" => Err(Snooze::new(MINUTE))?,
        "is discarded" => Err(Discard::new("gone"))?,
        _ => Ok(()),
    }
}

#[locked_task(every = "1m")]
async fn slot_fails(_lease: LeaseContext) -> TaskResult {
    Err("no")?
}

#[tokio::test]
async fn each_end_of_a_run_is_told_with_what_becomes_of_the_job() {
    let rt = TestRuntime::builder().only([comes_to_an_end::NAME]).build();
    let rt = rt.await.expect("it is linked and needs nothing");
    let mut events = rt.events();
    for (way, end) in [
        ("succeeds", "finished"),
        ("fails", "retried"),
        ("panics", "retried"),
        ("snoozes", "snoozed"),
        ("is discarded", "dead"),
    ] {
        let job = comes_to_an_end::enqueue(&rt.client(), way.to_owned()).await;
        let job = job.expect("memory takes it").id();
        rt.run_due().await;
        let seen = seen(&mut events).await;
        assert_eq!(words(&seen), ["claimed", "started", end], "{way}");
        for event in &seen {
            let about = (event.task, event.job, event.attempt, event.fence);
            assert_eq!(about, (comes_to_an_end::NAME, job, 1, 1));
            assert_eq!(event.kind.is_end(), event.kind.as_str() == end);
        }
    }
    // The second attempts of those that have failed; the one that snoozes has used none.
    rt.advance(MINUTE).await;
    rt.run_due().await;
    let seen = seen(&mut events).await;
    let mut ends: Vec<_> = seen.iter().filter(|event| event.kind.is_end()).collect();
    ends.sort_by_key(|event| event.job);
    let [failed, panicked, snoozed] = &ends[..] else {
        panic!("three ends, not {ends:?}");
    };
    assert!(matches!(&failed.kind, EventKind::Dead { error, .. } if error == "no"));
    assert!(
        matches!(&panicked.kind, EventKind::Dead { error, .. } if error.starts_with("panicked: no at "))
    );
    assert!(matches!(snoozed.kind, EventKind::Snoozed { after, .. } if after == MINUTE));
    assert_eq!((failed.attempt, snoozed.attempt), (2, 1));
}

#[tokio::test]
async fn a_slot_that_has_failed_is_told_apart_from_a_dead_job() {
    let rt = TestRuntime::builder().only([slot_fails::NAME]).build();
    let rt = rt.await.expect("it is linked and needs nothing");
    let mut events = rt.events();
    rt.run_for(MINUTE).await;
    let seen = seen(&mut events).await;
    assert!(seen.len() >= 3 && seen.len().is_multiple_of(3), "{seen:?}");
    assert_eq!(words(&seen[..3]), ["claimed", "started", "failed"]);
}

/// Each of several readers has all events, from when it began; without any nothing happens.
#[tokio::test]
async fn a_reader_that_lags_is_told_how_much_it_has_missed() {
    let rt = TestRuntime::builder().only([comes_to_an_end::NAME]).build();
    let rt = rt.await.expect("it is linked and needs nothing");
    let run = async |jobs: usize| {
        let ways = vec!["succeeds".to_owned(); jobs];
        let enqueued = comes_to_an_end::enqueue_many(&rt.client(), ways).await;
        assert!(enqueued.is_ok());
        assert_eq!(rt.run_due().await.len(), jobs);
    };
    run(1).await;
    let (mut slow, mut fast) = (rt.events(), rt.events());
    let mut read = 0;
    for _ in 0..4 {
        run(100).await;
        read += seen(&mut fast).await.len();
    }
    assert_eq!(read, 1200);
    let missed = slow.recv().await;
    assert_eq!(missed, Some(Err(Missed(1200 - 1024))));
    assert_eq!(seen(&mut slow).await.len(), 1024);
}

#[locked_task(ttl = "30s", on_lost = "signal")]
async fn goes_on(lease: LeaseContext, started: State<Notify>, go_on: State<Arc<Notify>>) {
    if lease.attempt() == 1 {
        started.notify_one();
        go_on.notified().await;
    }
}

#[tokio::test]
async fn a_loss_is_told_once_when_it_is_known_though_the_handler_goes_on() {
    let go_on = Arc::new(Notify::new());
    let rt = TestRuntime::builder()
        .only([goes_on::NAME])
        .state(Notify::new())
        .state(Arc::clone(&go_on))
        .build()
        .await
        .expect("it is linked");
    let mut events = rt.events();
    let triggered = goes_on::trigger(&rt.client()).await;
    assert!(triggered.is_ok());
    let (ran, ()) = tokio::join!(rt.run_due(), async {
        rt.suspend(MINUTE).await;
        let mut known = Vec::new();
        while known.len() < 3 {
            let told = timeout(BOUND, events.recv()).await;
            known.extend(told.expect("it is told").and_then(Result::ok));
        }
        assert_eq!(words(&known), ["claimed", "started", "lost"]);
        assert_eq!(known[2].kind, EventKind::Lost(LeaseLost::Suspended));
        go_on.notify_one();
    });
    assert_eq!(ran.len(), 2, "the second is the takeover");
    let seen = seen(&mut events).await;
    assert_eq!(
        words(&seen),
        ["abandoned", "claimed", "started", "finished"]
    );
    assert!(matches!(
        seen[1].kind,
        EventKind::Claimed { takeover: true, .. }
    ));
    assert_eq!((seen[0].fence, seen[1].fence), (1, 2));
}

/// A cancelled run is told by its next heartbeat, a third of its ttl later at most.
#[locked_task(ttl = "1500ms")]
async fn waits(_lease: LeaseContext) {
    std::future::pending().await
}

async fn next(events: &mut Events) -> &'static str {
    let event = timeout(BOUND, events.recv())
        .await
        .expect("within the bound");
    let event = event.expect("the runtime goes on").expect("not so many");
    event.kind.as_str()
}

/// A worker as applications have it: on a database, with its own clock and heartbeat.
#[tokio::test]
async fn a_worker_tells_of_cancelled_and_released_runs_and_then_of_its_own_end() {
    let file = sqlite::file();
    let runtime = Runtime::builder()
        .database_url(file.url())
        .only([waits::NAME])
        .shutdown_grace(Duration::ZERO)
        .handle_signals(false)
        .build()
        .await
        .expect("the folder can be written");
    let (client, shutdown): (Client, _) = (runtime.client(), runtime.shutdown_handle());
    let mut events = runtime.events();
    let running = tokio::spawn(runtime.run());

    let job = waits::enqueue(&client).await.expect("it is up").id();
    assert_eq!(next(&mut events).await, "claimed");
    assert_eq!(next(&mut events).await, "started");
    client.cancel(job).await.expect("it is there");
    assert_eq!(next(&mut events).await, "lost");
    assert_eq!(next(&mut events).await, "cancelled");

    waits::trigger(&client).await.expect("it is up");
    assert_eq!(next(&mut events).await, "claimed");
    assert_eq!(next(&mut events).await, "started");
    shutdown.shutdown();
    assert_eq!(next(&mut events).await, "released");
    let stopped = running.await.expect("it does not panic");
    assert!(stopped.is_ok(), "{stopped:?}");
    assert_eq!(events.recv().await, None);
}
