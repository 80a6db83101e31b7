//! Each way in which a run can end, and what becomes of its job.

use tasklock_runtime::{Client, Job, JobState};
use tasklock_test_support::process::Event;
use tasklock_test_support::wait::{eventually, eventually_async};

use crate::support::{
    Audit, BOUND, Place, What, all_over, client, number, ready, start_of, stop, worker,
};

/// The longest text that is kept.
const MOST_BYTES: usize = 4096;

on_both! {
    beside: a_discarded_job_is_dead_at_once,
    beside: a_snoozing_job_uses_no_attempt,
    beside: a_snoozing_slot_uses_no_attempt,
    beside: a_handler_may_name_the_delay,
    beside: a_panic_is_told_with_its_place,
    beside: a_destructor_that_panics_ends_nothing_else,
    beside: a_long_error_is_cut,
    beside: a_task_with_a_schedule_takes_no_other_jobs,
}

/// One job of a task, run to its end; with what the worker said of its starts, and its log.
struct Ended {
    job: Job,
    starts: Vec<Event>,
    log: String,
}

async fn run(place: &Place, client: &Client, task: &str) -> Ended {
    let enqueued = client.enqueue(task, &7).await;
    let enqueued = enqueued.expect("the database takes it");
    let worker = worker(place, task, &[]);
    all_over(place, task).await;
    stop(&worker);
    let job = client.job(enqueued.id()).await.ok().flatten();
    let events = worker.events().into_iter();
    Ended {
        job: job.expect("it is kept"),
        starts: events.filter(|event| event.is("start")).collect(),
        log: worker.stderr(),
    }
}

async fn a_discarded_job_is_dead_at_once(place: Place) {
    let client = client(&place).await;
    let ended = run(&place, &client, "discards").await;
    assert_eq!((ended.job.state, ended.job.attempt), (JobState::Dead, 1));
    assert_eq!(ended.job.last_outcome.as_deref(), Some("discarded"));
    let error = ended.job.last_error.as_deref();
    assert_eq!(error, Some("the customer has gone"));
    assert_eq!(ended.starts.len(), 1);
}

async fn a_snoozing_job_uses_no_attempt(place: Place) {
    let client = client(&place).await;
    Audit::install(&place).await;
    let ended = run(&place, &client, "snoozes").await;
    assert_eq!((ended.job.state, ended.job.attempt), (JobState::Done, 1));
    assert_eq!(ended.job.fence, 3);
    let attempts = ended.starts.iter().map(|start| number(start, "attempt"));
    assert_eq!(attempts.collect::<Vec<_>>(), [1, 1, 1]);
    let delays = delays(&place, "snoozes").await;
    assert_eq!(delays.len(), 2);
    assert!(delays.iter().all(|delay| is_300_ms(*delay)), "{delays:?}");
}

/// Its job has no end: the third run ends the slot.
async fn a_snoozing_slot_uses_no_attempt(place: Place) {
    let worker = worker(&place, "snoozes_by_schedule", &[]);
    let attempts = [0; 3].map(|_| number(&start_of(&worker), "attempt"));
    assert_eq!(attempts, [1, 1, 1]);
    stop(&worker);
    let row = place.row("snoozes_by_schedule").await;
    assert_eq!((&*row.state, row.attempt), ("ready", 0));
    assert_eq!(row.outcome.as_deref(), Some("succeeded"));
}

/// Its backoff is an hour.
async fn a_handler_may_name_the_delay(place: Place) {
    let client = client(&place).await;
    Audit::install(&place).await;
    let ended = run(&place, &client, "asks_later").await;
    assert_eq!((ended.job.state, ended.job.attempt), (JobState::Done, 2));
    let delays = delays(&place, "asks_later").await;
    assert!(delays.len() == 1 && is_300_ms(delays[0]), "{delays:?}");
}

/// Microseconds from each end that was not the last to when the job was due again.
async fn delays(place: &Place, task: &str) -> Vec<i64> {
    let events = Audit::of(place, task).await;
    let waits = events
        .iter()
        .filter(|event| event.what == What::End && event.state == "ready");
    let delay = |event: &Audit| Some(event.due? - event.ended?);
    waits.filter_map(delay).collect()
}

/// What is due is counted from when the server began to write the end, and the end is witnessed after
/// that: on a busy machine much later, and never before.
fn is_300_ms(delay: i64) -> bool {
    (200_000..=301_000).contains(&delay)
}

async fn a_panic_is_told_with_its_place(place: Place) {
    let client = client(&place).await;
    let ended = run(&place, &client, "panics").await;
    assert_eq!((ended.job.state, ended.job.attempt), (JobState::Dead, 1));
    assert_eq!(ended.job.last_outcome.as_deref(), Some("panicked"));
    let line = number(&ended.starts[0], "line");
    let error =
        format!("panicked: the drawer is stuck at tests/src/bin/jobs_worker/ends.rs:{line}");
    assert_eq!(ended.job.last_error, Some(error));
}

async fn a_destructor_that_panics_ends_nothing_else(place: Place) {
    let client = client(&place).await;
    let ended = run(&place, &client, "sharp_at_its_timeout").await;
    assert_eq!(ended.job.state, JobState::Dead);
    assert_eq!(ended.job.last_outcome.as_deref(), Some("timed_out"));
    let error = ended.job.last_error.as_deref();
    assert_eq!(error, Some("timed out after 200ms"));
    let told = "panicked while it was dropped: the drawer fell out at ";
    assert!(ended.log.contains(told), "{}", ended.log);

    let ended = run(&place, &client, "sharp_at_its_end").await;
    assert_eq!(ended.job.last_outcome.as_deref(), Some("panicked"));
    let error = ended.job.last_error.unwrap_or_default();
    assert!(
        error.starts_with("panicked: the drawer fell out at "),
        "{error}"
    );

    // The process goes on, with both of them beside others.
    let tasks = "sharp_at_its_timeout,sharp_at_its_end,note";
    let worker = worker(&place, tasks, &[]);
    ready(&worker);
    for task in ["sharp_at_its_timeout", "sharp_at_its_end"] {
        let enqueued = client.enqueue_many(task, 0..5).await;
        enqueued.expect("the database takes them");
    }
    for task in ["sharp_at_its_timeout", "sharp_at_its_end"] {
        all_over(&place, task).await;
    }
    let last = client.enqueue("note", &8).await;
    let last = last.expect("the database takes it").id();
    worker.wait_for(BOUND, |event| {
        event.u64("job") == Some(last.cast_unsigned())
    });
    stop(&worker);
    eventually(BOUND, || worker.stderr().ends_with("stopped\n"));
}

/// Else there were two runs of it at once, with whatever its schedule has started.
async fn a_task_with_a_schedule_takes_no_other_jobs(place: Place) {
    let client = client(&place).await;
    let worker = worker(&place, "ticks", &[]);
    start_of(&worker);
    let enqueued = client.enqueue("ticks", &()).await;
    let id = enqueued.expect("the client cannot know").id();
    let refused = eventually_async(BOUND, async || {
        let job = client.job(id).await.ok().flatten()?;
        (job.refusals > 0).then_some(job)
    });
    let refused = refused.await;
    assert_eq!((refused.state, refused.attempt), (JobState::Ready, 0));
    let error = refused.last_error.unwrap_or_default();
    assert!(error.contains("has a schedule"), "{error}");
    start_of(&worker);
    stop(&worker);
    let ran = |event: &Event| number(event, "job") == id;
    assert!(
        !worker
            .events()
            .iter()
            .filter(|event| event.is("start"))
            .any(ran)
    );
}

async fn a_long_error_is_cut(place: Place) {
    let client = client(&place).await;
    let ended = run(&place, &client, "talkative").await;
    let error = ended.job.last_error.unwrap_or_default();
    assert!(error.starts_with("sending: ää"), "{error}");
    assert!(
        (MOST_BYTES - 10..=MOST_BYTES).contains(&error.len()),
        "{}",
        error.len()
    );
    assert!(
        ended.log.len() < 3 * MOST_BYTES,
        "{} bytes of log",
        ended.log.len()
    );
}
