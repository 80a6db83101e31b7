//! Jobs that are cancelled, tried again, paused; and workers that take some queues only.

use std::time::Duration;

use tasklock_runtime::{Cancelled, Client, Job, JobState, Pausable, Retried};
use tasklock_test_support::process::{Worker, boottime};
use tasklock_test_support::wait::eventually_async;

use crate::support::{
    BOUND, Place, all_over, client, number, print, ready, start_of, stop, worker,
};

on_both! {
    beside: a_running_job_is_cancelled_by_its_next_heartbeat,
    beside: a_job_that_fails_after_it_was_cancelled_is_cancelled,
    beside: a_waiting_job_that_is_cancelled_never_runs,
    beside: a_dead_job_is_tried_again,
    beside: what_is_paused_waits,
    beside: a_worker_takes_its_queues_only,
}

async fn read(client: &Client, id: i64) -> Job {
    let job = client.job(id).await.expect("the database answers");
    job.expect("it is there")
}

async fn ended(client: &Client, id: i64) -> Job {
    let look = async || {
        let job = read(client, id).await;
        job.state.is_ended().then_some(job)
    };
    eventually_async(BOUND, look).await
}

/// Enqueues a job that ends at once, and waits until a worker has run it.
async fn marker(client: &Client, worker: &Worker) {
    let job = client.enqueue("note", &0).await;
    let id = job.expect("the database takes it").id();
    worker.wait_for(BOUND, |event| number(event, "job") == id);
}

async fn a_running_job_is_cancelled_by_its_next_heartbeat(place: Place) {
    let client = client(&place).await;
    let job = client.enqueue("holds", &0).await.expect("it is taken");
    let worker = worker(&place, "holds", &[]);
    start_of(&worker);
    let asked = boottime();
    let cancelled = client.cancel(job.id()).await.ok();
    assert_eq!(cancelled, Some(Cancelled::Soon));
    let dropped = worker.wait_for(BOUND, |event| event.is("dropped"));
    assert_eq!(
        dropped.str("lost"),
        Some("cancelled"),
        "{}",
        worker.report()
    );
    let took = dropped.boottime().expect("it tells") - asked;
    assert!(
        took < Duration::from_secs(2),
        "{took:?}: heartbeats are 500 ms"
    );
    let job = ended(&client, job.id()).await;
    assert_eq!((job.state, job.attempt), (JobState::Cancelled, 1));
    assert_eq!(job.last_outcome.as_deref(), Some("cancelled"));
    let again = client.cancel(job.id).await.ok();
    assert_eq!(again, Some(Cancelled::AlreadyEnded));
    stop(&worker);
    print(&format!(
        "{}: cancelled while it ran: the handler was dropped after {took:.0?} (heartbeat 500 ms)",
        place.kind()
    ));
}

/// Its attempts are not used up, and its next heartbeat is far.
async fn a_job_that_fails_after_it_was_cancelled_is_cancelled(place: Place) {
    let client = client(&place).await;
    place.run("CREATE TABLE cue (number bigint)").await;
    let job = client
        .enqueue("fails_on_cue", &0)
        .await
        .expect("it is taken");
    let worker = worker(&place, "fails_on_cue", &[]);
    start_of(&worker);
    let cancelled = client.cancel(job.id()).await.ok();
    assert_eq!(cancelled, Some(Cancelled::Soon));
    place.run("INSERT INTO cue VALUES (1)").await;
    let job = ended(&client, job.id()).await;
    assert_eq!(job.state, JobState::Cancelled);
    // It is listed among what has ended, and will be pruned.
    let listed = client.jobs().state(JobState::Cancelled).await;
    let listed: Vec<i64> = listed
        .expect("the database answers")
        .iter()
        .map(|job| job.id)
        .collect();
    assert_eq!(listed, [job.id]);
    let kept = place
        .run("SELECT 1 FROM tasklock_job WHERE prune_at IS NULL AND state = 'cancelled'")
        .await;
    assert!(kept.is_empty(), "it would be kept for ever");
    stop(&worker);
}

async fn a_waiting_job_that_is_cancelled_never_runs(place: Place) {
    let client = client(&place).await;
    let worker = worker(&place, "note", &[]);
    ready(&worker);
    let soon = client.enqueue("note", &0).delay(Duration::from_millis(300));
    let soon = soon.await.expect("it is taken");
    assert_eq!(client.cancel(soon.id()).await.ok(), Some(Cancelled::Now));
    // Due after it, and run.
    let later = client.enqueue("note", &0).delay(Duration::from_millis(400));
    let later = later.await.expect("it is taken").id();
    let start = start_of(&worker);
    assert_eq!(number(&start, "job"), later);
    let job = read(&client, soon.id()).await;
    assert_eq!((job.state, job.fence), (JobState::Cancelled, 0));
    stop(&worker);
}

async fn a_dead_job_is_tried_again(place: Place) {
    let client = client(&place).await;
    let job = client.enqueue("hopeless", &0).await.expect("it is taken");
    let worker = worker(&place, "hopeless", &[]);
    let dead = ended(&client, job.id()).await;
    assert_eq!(
        (dead.state, dead.attempt, dead.fence),
        (JobState::Dead, 1, 1)
    );
    assert_eq!(client.retry(dead.id).await.ok(), Some(Retried::Queued));
    let again = eventually_async(BOUND, async || {
        let job = read(&client, dead.id).await;
        (job.fence == 2 && job.state == JobState::Dead).then_some(job)
    });
    assert_eq!(again.await.attempt, 1);
    stop(&worker);
}

async fn what_is_paused_waits(place: Place) {
    let client = client(&place).await;
    let worker = worker(&place, "note,order,mailed", &[]);
    ready(&worker);
    let order = serde_json::json!({ "customer": "ada", "cents": 5 });
    for what in [
        Pausable::Task("order".into()),
        Pausable::Queue("mail".into()),
    ] {
        let job = match &what {
            Pausable::Queue(queue) => {
                assert_eq!(client.pause_queue(queue).await.ok(), Some(true));
                assert_eq!(client.pause_queue(queue).await.ok(), Some(false));
                client.enqueue("mailed", &0).await
            }
            Pausable::Task(task) => {
                assert_eq!(client.pause_task(task).await.ok(), Some(true));
                client.enqueue("order", &order).await
            }
            other => panic!("{other:?} is new"),
        };
        let id = job.expect("the database takes it").id();
        assert_eq!(client.paused().await.ok(), Some(vec![what.clone()]));
        for _ in 0..3 {
            marker(&client, &worker).await;
        }
        assert_eq!(read(&client, id).await.fence, 0);
        let resumed = match &what {
            Pausable::Queue(queue) => client.resume_queue(queue).await,
            Pausable::Task(task) => client.resume_task(task).await,
            other => panic!("{other:?} is new"),
        };
        assert_eq!(resumed.ok(), Some(true));
        let start = start_of_job(&worker, id);
        assert_eq!(start, 1);
    }
    stop(&worker);
}

/// The attempt of this job's start.
fn start_of_job(worker: &Worker, id: i64) -> i64 {
    let start = worker.wait_for(BOUND, |event| {
        event.is("start") && number(event, "job") == id
    });
    number(&start, "attempt")
}

async fn a_worker_takes_its_queues_only(place: Place) {
    let client = client(&place).await;
    let tasks = "note,mailed";
    let postman = worker(&place, tasks, &[("TASKLOCK_QUEUES", "mail")]);
    ready(&postman);
    let note = client.enqueue("note", &0).await.expect("it is taken");
    for _ in 0..5 {
        let mailed = client.enqueue("mailed", &0).await;
        let id = mailed.expect("it is taken").id();
        start_of_job(&postman, id);
    }
    assert_eq!(read(&client, note.id()).await.fence, 0);
    let other = worker(&place, tasks, &[("TASKLOCK_QUEUES", "default")]);
    start_of_job(&other, note.id());
    all_over(&place, "note").await;
    stop(&postman);
    stop(&other);
}
