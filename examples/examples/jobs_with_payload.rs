//! Jobs that carry something: enqueued with a payload, retried, discarded, put off.
//!
//! ```text
//! cargo run -p tasklock-examples --example jobs_with_payload
//! ```
//!
//! The program enqueues five letters on a SQLite file in a temporary folder, runs a worker until all of them
//! have ended, and shows what became of each:
//!
//! - `ada` is sent at once.
//! - `bob` is due half a second later, and enqueued twice under one unique key: the second call answers the
//!   first one's job, which still waits.
//! - `cleo` is due a second later.
//! - `dan`'s mailbox is full the first time: an error, and the task's `backoff` says when to try again.
//! - `eve` has moved away: `Discard` says that trying again is no use, and the job is dead at once.
//!
//! A handler's other answers are `Snooze` (not now, and no attempt is used) and `RetryAfter` (a failure that
//! names the delay itself). Whatever it answers is recorded with the job, which stays visible for a day
//! (`keep`).

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tasklock_examples::show_logs;
use tasklock_runtime::{
    BoxError, Client, Discard, JobState, LeaseContext, Payload, Runtime, State, TaskResult,
    locked_task,
};

/// What the job carries; JSON in the database.
#[derive(Serialize, Deserialize)]
struct Letter {
    to: String,
    text: String,
}

/// What the handlers share.
#[derive(Default)]
struct Post {
    has_tried: Mutex<HashSet<String>>,
}

/// Delivers a letter: on one worker, and at least once.
#[locked_task(retries = 3, backoff = "200ms..2s", timeout = "30s")]
async fn deliver(lease: LeaseContext, letter: Payload<Letter>, post: State<Post>) -> TaskResult {
    lease.check()?;
    match &*letter.to {
        "dan" if post.is_first("dan") => Err("the mailbox is full")?,
        "eve" => Err(Discard::new("moved away"))?,
        to => println!("{to}: {:?}, attempt {}", letter.text, lease.attempt()),
    }
    Ok(())
}

impl Post {
    fn is_first(&self, to: &str) -> bool {
        let mut tried = self
            .has_tried
            .lock()
            .unwrap_or_else(|held| held.into_inner());
        tried.insert(to.to_owned())
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    show_logs();
    let folder = tempfile::tempdir()?;
    let runtime = Runtime::builder()
        .database_url(format!("sqlite://{}/letters.db", folder.path().display()))
        .state(Post::default())
        .build()
        .await?;
    let (client, shutdown) = (runtime.client(), runtime.shutdown_handle());
    let running = tokio::spawn(runtime.run());

    let letter = |to: &str| Letter {
        to: to.to_owned(),
        text: format!("Dear {to}"),
    };
    deliver::enqueue(&client, letter("ada")).await?;
    for _ in 0..2 {
        let job = deliver::enqueue(&client, letter("bob"))
            .unique("bob")
            .delay(Duration::from_millis(500))
            .await?;
        println!("bob: job {}, new: {}", job.id(), job.is_new());
    }
    let in_a_second = deliver::enqueue(&client, letter("cleo")).delay(Duration::from_secs(1));
    in_a_second.await?;
    deliver::enqueue_many(&client, [letter("dan"), letter("eve")]).await?;

    wait_for_all(&client).await?;
    let mut jobs = client.jobs().task(deliver::NAME).await?;
    jobs.sort_by_key(|job| job.id);
    for job in jobs {
        let error = job.last_error.unwrap_or_default();
        println!(
            "job {} is {} after attempt {} {error}",
            job.id, job.state, job.attempt
        );
    }
    shutdown.shutdown();
    running.await??;
    Ok(())
}

/// Until no job waits or runs any more.
async fn wait_for_all(client: &Client) -> Result<(), BoxError> {
    loop {
        let open = client
            .jobs()
            .state(JobState::Ready)
            .state(JobState::Running);
        // Standing jobs of other tasks would wait for ever; this one has none.
        if open.task(deliver::NAME).await?.is_empty() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
