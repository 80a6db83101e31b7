//! Unit tests of a task: no database, no waiting.
//!
//! ```text
//! cargo test -p tasklock-examples --example unit_test_a_handler
//! ```
//!
//! The program greets somebody who signs up: `sign_up` enqueues a job, `greet` is its handler. (`cargo run`
//! runs it, on a SQLite file in a temporary folder.) Its tests, at the end, show the three things that
//! `tasklock_runtime::testing` is for:
//!
//! - the handler called as the function that it is, under a lease that the test takes away;
//! - what other code has enqueued;
//! - the task as the runtime runs it, with its retries and its backoff, by a clock that the test moves.
//!
//! The module is behind a cargo feature:
//!
//! ```toml
//! [dev-dependencies]
//! tasklock-runtime = { version = "0.1", features = ["testing"] }
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use tasklock_runtime::{
    BoxError, Client, LeaseContext, Payload, Runtime, State, TaskResult, locked_task,
};
use tokio::sync::Notify;

/// What a job carries.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Greeting {
    to: String,
}

/// Sends letters, as long as it has stamps.
#[derive(Default)]
struct Post {
    stamps: AtomicU32,
    has_sent: Notify,
}

impl Post {
    fn send(&self, letter: &str) -> TaskResult {
        let stamps = self.stamps.load(Ordering::SeqCst);
        let left = stamps.checked_sub(1).ok_or("out of stamps")?;
        println!("{letter}");
        self.stamps.store(left, Ordering::SeqCst);
        self.has_sent.notify_one();
        Ok(())
    }
}

/// Greets somebody: one run of a job at a time, and at least one.
#[locked_task(retries = 3, backoff = "1m..1m")]
async fn greet(
    lease: LeaseContext,
    greeting: Payload<Greeting>,
    post: State<Arc<Post>>,
) -> TaskResult {
    lease.check()?; // the last look before others see what it does
    post.send(&format!("Welcome, {}!", greeting.to))
}

async fn sign_up(client: &Client, name: &str) -> Result<(), BoxError> {
    let to = name.to_owned();
    greet::enqueue(client, Greeting { to }).unique(name).await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let post = Arc::new(Post::default());
    post.stamps.store(1, Ordering::SeqCst);
    let runtime = Runtime::builder()
        .database_url(format!("sqlite://{}/post.db", folder.path().display()))
        .state(Arc::clone(&post))
        .build()
        .await?;
    let (client, shutdown) = (runtime.client(), runtime.shutdown_handle());
    let running = tokio::spawn(runtime.run());
    sign_up(&client, "ada").await?;
    post.has_sent.notified().await;
    shutdown.shutdown();
    running.await??;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tasklock_runtime::testing::{TestLease, TestRuntime};
    use tasklock_runtime::{LeaseLost, Outcome};

    use super::*;

    /// The function itself, with a lease, a payload and a state of the test's.
    #[tokio::test]
    async fn nobody_is_greeted_under_a_lost_lease() {
        let (lease, post) = (TestLease::new("greet"), Arc::new(Post::default()));
        post.stamps.store(2, Ordering::SeqCst);
        let greeting = || Payload(Greeting { to: "ada".into() });
        let state = State::new(Arc::clone(&post));

        assert!(
            greet(lease.context(), greeting(), state.clone())
                .await
                .is_ok()
        );
        lease.lose(LeaseLost::TakenOver);
        assert!(greet(lease.context(), greeting(), state).await.is_err());
        assert_eq!(post.stamps.load(Ordering::SeqCst), 1);
    }

    /// What other code has enqueued.
    #[tokio::test]
    async fn who_signs_up_is_to_be_greeted_once() -> Result<(), BoxError> {
        let rt = TestRuntime::builder()
            .state(Arc::new(Post::default()))
            .build()
            .await?;
        sign_up(&rt.client(), "ada").await?;
        sign_up(&rt.client(), "ada").await?;
        assert_eq!(rt.enqueued::<greet, _>(), [Greeting { to: "ada".into() }]);
        Ok(())
    }

    /// The task as the runtime runs it. No minute passes here.
    #[tokio::test]
    async fn without_stamps_it_is_tried_again_after_a_minute() -> Result<(), BoxError> {
        let post = Arc::new(Post::default());
        let rt = TestRuntime::builder()
            .state(Arc::clone(&post))
            .build()
            .await?;
        sign_up(&rt.client(), "ada").await?;
        let ran = rt.run_due().await;
        assert_eq!(ran[0].outcome.error().as_deref(), Some("out of stamps"));

        post.stamps.store(1, Ordering::SeqCst);
        assert_eq!(rt.run_due().await, []);
        rt.advance(Duration::from_secs(60)).await;
        let ran = rt.run_due().await;
        assert_eq!((ran[0].attempt, &ran[0].outcome), (2, &Outcome::Succeeded));
        Ok(())
    }
}
