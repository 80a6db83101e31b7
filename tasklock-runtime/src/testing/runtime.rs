//! A runtime that a test moves by hand.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::client::Client;
use crate::error::{Error, StoreError};
use crate::lease::{HandClock, LeaseContext};
use crate::run::{ByHand, Ended, Events, Handler, Publisher};
use crate::runtime::{Runtime, RuntimeBuilder};
use crate::store::memory::Memory;
use crate::store::{Claim, timestamp};
use crate::task::{Outcome, micros};

/// 2030-01-01T00:00:00Z.
const START: i64 = 1_893_456_000_000_000;
/// Runs that follow each other at one moment: more of them will never end.
const MOST_AT_ONCE: usize = 10_000;

/// A worker on a store in memory, and its clock: both do nothing until the test says so. See the
/// [module](super).
///
/// All methods take `&self`: while a run is under way in one future, a test may let time pass in another.
pub struct TestRuntime {
    worker: ByHand,
    client: Client,
    events: Publisher,
    clock: Arc<HandClock>,
    pub(super) memory: Memory,
    start: Timestamp,
}

/// Sets up a [`TestRuntime`].
#[must_use = "nothing is there before `build().await?`"]
#[derive(Debug)]
pub struct TestRuntimeBuilder {
    inner: RuntimeBuilder,
    start: Timestamp,
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ran {
    /// The task's name.
    pub task: String,
    /// The job.
    pub job: i64,
    /// Which attempt at it this was, from 1.
    pub attempt: u32,
    /// The run's fence.
    pub fence: i64,
    /// When it was due.
    pub scheduled_for: Timestamp,
    /// How it ended. What became of the job stands in [`Client::job`].
    pub outcome: Outcome,
}

impl TestRuntimeBuilder {
    /// As [`RuntimeBuilder::state`](crate::RuntimeBuilder::state).
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        self.inner = self.inner.state(state);
        self
    }

    /// Runs only these of the tasks that are linked into the test program: `.only([refresh::NAME])`. The
    /// others need no state then.
    pub fn only<N: Into<String>>(mut self, tasks: impl IntoIterator<Item = N>) -> Self {
        self.inner = self.inner.only(tasks);
        self
    }

    /// As [`RuntimeBuilder::around`](crate::RuntimeBuilder::around).
    pub fn around<F, Fut>(mut self, layer: F) -> Self
    where
        F: Fn(LeaseContext, Handler) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Ended> + Send + 'static,
    {
        self.inner = self.inner.around(layer);
        self
    }

    /// Refuses longer payloads, as [`RuntimeBuilder::payload_limit`](crate::RuntimeBuilder::payload_limit).
    pub fn payload_limit(mut self, bytes: usize) -> Self {
        self.inner = self.inner.payload_limit(bytes);
        self
    }

    /// What the clock shows at first; by default 2030-01-01T00:00:00Z, in every test the same.
    pub fn starting_at(mut self, start: Timestamp) -> Self {
        self.start = start;
        self
    }

    /// Checks the tasks and makes the runtime. Environment variables are not looked at.
    ///
    /// # Errors
    ///
    /// What keeps the real one from starting: tasks that cannot be used, a missing state.
    pub async fn build(self) -> Result<TestRuntime, Error> {
        let clock = Arc::new(HandClock::new());
        let (hands, start) = (Arc::clone(&clock), self.start.as_microsecond());
        let memory = Memory::on(move || start.saturating_add(micros(hands.elapsed())));
        let runtime = self
            .inner
            .pool(memory.clone())
            .clock(clock.clone())
            .concurrency(1)
            .worker_name("test")
            .build_without_environment()
            .await?;
        Ok(TestRuntime {
            events: runtime.publisher(),
            client: runtime.client(),
            worker: runtime.by_hand(Arc::clone(&clock))?,
            clock,
            memory,
            start: self.start,
        })
    }
}

impl TestRuntime {
    /// A runtime of all tasks that are linked into the test program, unless the builder is told otherwise.
    pub fn builder() -> TestRuntimeBuilder {
        TestRuntimeBuilder {
            inner: Runtime::builder(),
            start: timestamp(START),
        }
    }

    /// A client of this runtime: enqueues, triggers, takes named leases, sees and steers jobs.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// As [`Runtime::events`](crate::Runtime::events).
    pub fn events(&self) -> Events {
        self.events.reader()
    }

    /// What the clock shows.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let elapsed = micros(self.clock.elapsed());
        timestamp(self.start.as_microsecond().saturating_add(elapsed))
    }

    /// Lets time pass, for the store and for this process alike. Nothing is run; whatever leases are held are
    /// renewed in time, as by a healthy heartbeat.
    pub async fn advance(&self, time: Duration) {
        self.worker.advance(time).await;
    }

    /// Lets time pass while this process is suspended: no lease is renewed, so those that are shorter are
    /// lost as [`LeaseLost::Suspended`](crate::LeaseLost::Suspended), and then expire.
    pub async fn suspend(&self, time: Duration) {
        self.worker.suspend(time).await;
    }

    /// Runs what is due, one run after the other in the order in which a worker would take them, until
    /// nothing is: also what falls due by these runs at the same moment. The clock stands still meanwhile.
    ///
    /// # Panics
    ///
    /// After 10,000 runs, for a task that makes itself due again would go on for ever.
    pub async fn run_due(&self) -> Vec<Ran> {
        let mut ran = Vec::new();
        while let Some((claim, outcome)) = expected(self.worker.run_next().await) {
            ran.push(Ran::of(claim, outcome));
            assert!(
                ran.len() < MOST_AT_ONCE,
                "{MOST_AT_ONCE} runs were due at one moment, the last one of `{}`: does each of its runs make \
                 another one due?",
                ran.last().map_or("", |ran| &ran.task)
            );
        }
        ran
    }

    /// Moves the clock to the moment at which there may be work next: a due time, a retry, a lease that has
    /// expired. Answers how far that was, zero if something is due already; `None`, and stays where it is, if
    /// nothing will ever happen by itself.
    pub async fn advance_to_next(&self) -> Option<Duration> {
        let wait = self.wait().await?;
        self.advance(wait).await;
        Some(wait)
    }

    /// Lets time pass as in production: whatever falls due within it is run when it does.
    ///
    /// # Panics
    ///
    /// As [`run_due`](Self::run_due).
    pub async fn run_for(&self, time: Duration) -> Vec<Ran> {
        let end = self.clock.elapsed() + time;
        let mut ran = self.run_due().await;
        loop {
            let left = end.saturating_sub(self.clock.elapsed());
            let Some(wait) = self.wait().await.filter(|wait| *wait <= left) else {
                self.advance(left).await;
                return ran;
            };
            self.advance(wait).await;
            ran.extend(self.run_due().await);
        }
    }

    async fn wait(&self) -> Option<Duration> {
        self.memory.wait_for_work(self.worker.tasks().await)
    }
}

impl Ran {
    fn of(claim: Claim, outcome: Outcome) -> Self {
        Self {
            job: claim.key.job,
            attempt: claim.attempt,
            fence: claim.key.fence,
            scheduled_for: timestamp(claim.stands_for()),
            task: claim.task,
            outcome,
        }
    }
}

impl fmt::Debug for TestRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestRuntime")
            .field("now", &self.now())
            .finish_non_exhaustive()
    }
}

fn expected<T>(answer: Result<T, StoreError>) -> T {
    match answer {
        Ok(answer) => answer,
        Err(error) => panic!("a store in memory answers: {error}"),
    }
}
