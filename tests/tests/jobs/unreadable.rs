//! Payloads that this program cannot read: put off for a newer one, told by their place alone, in nobody's
//! way.

use serde_json::json;
use tasklock_runtime::{Job, JobState};
use tasklock_test_support::process::Worker;
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage;

use crate::support::{
    Audit, BOUND, Place, What, all_over, client, count, number, ready, start_of, stop, worker,
};

/// Part of each value that no log and no error may show.
const SECRET: &str = "hunter2";
/// The bound, after which such a job is dead.
const REFUSALS: u32 = 20;

on_both! {
    beside: it_is_put_off_and_shown_nowhere,
    beside: it_is_dead_after_the_bound,
    beside: a_newer_worker_runs_it,
}

async fn it_is_put_off_and_shown_nowhere(place: Place) {
    let client = client(&place).await;
    Audit::install(&place).await;
    let wrong_type = json!({ "customer": SECRET, "cents": SECRET });
    let missing = json!({ "cents": 5, "hunter2": SECRET });
    let mut jobs = Vec::new();
    for payload in [&wrong_type, &missing] {
        let job = client.enqueue("order", payload).await;
        jobs.push(job.expect("it is JSON").id());
    }
    // Not even JSON: somebody has written the row by hand, on two lines.
    place.run(&format!("INSERT INTO tasklock_job (task, payload, due_at, created_at)
        SELECT task, '{{\n  \"customer\": {SECRET}', due_at, created_at FROM tasklock_job WHERE id = {}", jobs[0]))
        .await;
    jobs.push(count(&place, "SELECT max(id) FROM tasklock_job").await);
    let worker = worker(&place, "order", &[]);
    let mut mistakes = Vec::new();
    for id in jobs {
        let refused = eventually_async(BOUND, async || {
            let job = client.job(id).await.ok().flatten()?;
            (job.refusals > 0).then_some(job)
        });
        let job: Job = refused.await;
        assert_eq!((job.attempt, job.crashes), (0, 0), "{job:?}");
        assert_eq!(job.last_outcome.as_deref(), Some("undecodable"));
        mistakes.push(job.last_error.expect("it is told"));
    }
    let parts: [&[&str]; 3] = [
        &["`cents`", "(line 1, column ", "u32"],
        &["customer", "(line 1, column "],
        &["(line 2, column ", "not valid JSON"],
    ];
    for (mistake, parts) in mistakes.iter().zip(parts) {
        for part in parts {
            assert!(mistake.contains(part), "no {part} in {mistake}");
        }
        assert!(!mistake.contains(SECRET), "{mistake}");
    }

    // The others of its task run.
    let good = (0..20).map(|cents| json!({ "customer": SECRET, "cents": cents }));
    let good = client.enqueue_many("order", good).await;
    for job in good.expect("it is JSON") {
        worker.wait_for(BOUND, |event| number(event, "job") == job.id());
    }
    stop(&worker);
    let log = worker.stderr();
    assert!(!log.contains(SECRET), "{log}");
    assert!(log.contains(&mistakes[0]), "{log}");

    // With a backoff that grows from 1 to 2 s.
    let mut refused = 0;
    for event in Audit::of(&place, "order").await {
        if event.what == What::End && event.state == "ready" {
            let delay = event.due.zip(event.ended).map(|(due, ended)| due - ended);
            let delay = delay.expect("it is due again");
            assert!((999_000..=4_001_000).contains(&delay), "{event:?}");
            refused += 1;
        }
    }
    assert!(refused >= 3);
}

async fn it_is_dead_after_the_bound(place: Place) {
    let client = client(&place).await;
    let job = client.enqueue("order", &"none at all").await;
    let id = job.expect("it is JSON").id();
    // About two hours of them.
    let earlier = format!(
        "UPDATE tasklock_job SET refusals = {} WHERE id = {id}",
        REFUSALS - 1
    );
    place.run(&earlier).await;
    let worker = worker(&place, "order", &[]);
    let read = async || client.job(id).await.ok().flatten();
    let last = eventually_async(BOUND, async || {
        read().await.filter(|job| job.refusals == REFUSALS)
    });
    assert_eq!(last.await.state, JobState::Ready);
    client.retry(id).await.expect("it is there");
    let dead = eventually_async(BOUND, async || {
        read().await.filter(|job| job.state.is_ended())
    });
    let dead = dead.await;
    assert_eq!((dead.state, dead.refusals), (JobState::Dead, REFUSALS));
    assert_eq!(dead.last_outcome.as_deref(), Some("undecodable"));
    // With a retry, from the beginning.
    client.retry(id).await.expect("it is there");
    let again = eventually_async(BOUND, async || read().await.filter(|job| job.refusals == 1));
    assert_eq!(again.await.state, JobState::Ready);
    stop(&worker);
}

async fn a_newer_worker_runs_it(place: Place) {
    let client = client(&place).await;
    let payload = json!({ "customer": "ada", "cents": "12.50" });
    let job = client.enqueue("order", &payload).await;
    let id = job.expect("it is JSON").id();
    let old = worker(&place, "order", &[]);
    let read = async || client.job(id).await.ok().flatten();
    eventually_async(BOUND, async || read().await.filter(|job| job.refusals > 0)).await;
    stop(&old);
    let program = env!("CARGO_BIN_EXE_jobs_worker_newer");
    let newer: Worker = stage::worker(program, &place.url(), "order", &[]);
    ready(&newer);
    let start = start_of(&newer);
    assert_eq!((number(&start, "job"), number(&start, "attempt")), (id, 1));
    all_over(&place, "order").await;
    stop(&newer);
    let job = read().await.expect("it is kept");
    assert_eq!((job.state, job.attempt), (JobState::Done, 1));
    assert_eq!(job.last_error, None);
}
