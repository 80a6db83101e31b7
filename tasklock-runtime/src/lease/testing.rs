//! A lease in the hands of a test.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tasklock_grammar::Timing;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::sync::CancellationToken;

use super::loose::parts;
#[cfg(test)]
pub(crate) use super::loose::{lease, lease_for};
use super::{
    Clock, HandClock, LeaseContext, LeaseLost, LeaseStatus, RenewError, RenewRequest, Renewals,
    ResourceParts, Trust,
};

/// A lease outside of any runtime, for calling a handler in a unit test.
///
/// It is held until the test takes it away. Its clock is its own, and moves only by
/// [`advance`](Self::advance) and [`suspend`](Self::suspend): no test waits for time to pass. There is no
/// store and no heartbeat behind it. As a lease of a task with the same `ttl` it may be trusted for four
/// fifths of it (the `margin` is a fifth), and then again from each time that the handler calls
/// [`renew`](LeaseContext::renew).
///
/// ```
/// use tasklock_runtime::testing::TestLease;
/// use tasklock_runtime::{LeaseContext, LeaseLost, TaskResult};
///
/// async fn refresh(lease: LeaseContext) -> TaskResult {
///     lease.check()?;
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let lease = TestLease::new("refresh").attempt(2);
/// assert!(refresh(lease.context()).await.is_ok());
///
/// lease.lose(LeaseLost::TakenOver);
/// assert!(refresh(lease.context()).await.is_err());
/// # }
/// ```
///
/// [`commit`](LeaseContext::commit) and [`complete_in`](LeaseContext::complete_in) commit a transaction of
/// any of the databases while the lease is held, and roll it back with [`Lost`](crate::CommitError::Lost)
/// once it is not. That is all: no row is looked at, so what a takeover at that very moment does is not
/// tested by it.
///
/// [`lock`](LeaseContext::lock) fails: a handler that takes named leases is tested with
/// [`TestRuntime`](crate::testing::TestRuntime).
///
/// The blocking calls work on any thread that async code does not run on, in a plain `#[test]` too; keep
/// the `TestLease` until they have returned.
pub struct TestLease {
    settings: Settings,
    clock: Arc<HandClock>,
    shutdown: CancellationToken,
    renewals: Arc<Mutex<Asked>>,
    made: OnceLock<Made>,
}

/// What the lease says of its run.
struct Settings {
    task: String,
    job: i64,
    attempt: u32,
    fence: i64,
    ttl: Duration,
    scheduled_for: Timestamp,
    resource: Option<(String, i64)>,
}

/// What the handler has asked for, and what it is told.
struct Asked {
    times: usize,
    answer: Result<(), RenewError>,
}

struct Made {
    context: LeaseContext,
    status: Arc<LeaseStatus>,
    /// For blocking calls, where the test has none.
    runtime: Option<Runtime>,
}

impl TestLease {
    /// A lease on the first attempt at job 1 of a task, with fence 1, a ttl of 30 s, and due at the Unix
    /// epoch. The setters change that; they come before the first [`context`](Self::context).
    #[must_use]
    pub fn new(task: impl Into<String>) -> Self {
        Self {
            settings: Settings {
                task: task.into(),
                job: 1,
                attempt: 1,
                fence: 1,
                ttl: Timing::DEFAULT_TTL,
                scheduled_for: Timestamp::UNIX_EPOCH,
                resource: None,
            },
            clock: Arc::new(HandClock::new()),
            shutdown: CancellationToken::new(),
            renewals: Arc::new(Mutex::new(Asked {
                times: 0,
                answer: Ok(()),
            })),
            made: OnceLock::new(),
        }
    }

    /// Which attempt [`LeaseContext::attempt`] says that it is, from 1.
    #[must_use]
    pub fn attempt(self, attempt: u32) -> Self {
        self.with(|settings| settings.attempt = attempt)
    }

    /// The fence that [`LeaseContext::fence`] answers.
    #[must_use]
    pub fn fence(self, fence: i64) -> Self {
        self.with(|settings| settings.fence = fence)
    }

    /// The job that [`LeaseContext::job_id`] names.
    #[must_use]
    pub fn job_id(self, job: i64) -> Self {
        self.with(|settings| settings.job = job)
    }

    /// The run's second lease: what [`LeaseContext::resource`] and [`resource_fence`](LeaseContext::resource_fence) say.
    /// None by default.
    #[must_use]
    pub fn resource(self, name: impl Into<String>, fence: i64) -> Self {
        self.with(|settings| settings.resource = Some((name.into(), fence)))
    }

    /// How long the lease lasts without renewal; the handler is told of its loss a fifth of it earlier.
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> Self {
        self.with(|settings| settings.ttl = ttl)
    }

    /// When the run was due, as [`LeaseContext::scheduled_for`] says.
    #[must_use]
    pub fn scheduled_for(self, due: Timestamp) -> Self {
        self.with(|settings| settings.scheduled_for = due)
    }

    fn with(mut self, set: impl FnOnce(&mut Settings)) -> Self {
        assert!(
            self.made.get().is_none(),
            "set what the lease says before its first `context()`: there is a handler that has it as it was"
        );
        set(&mut self.settings);
        self
    }

    /// The lease for the handler; each call answers a clone of the same one.
    #[must_use]
    pub fn context(&self) -> LeaseContext {
        self.made().context.clone()
    }

    /// Takes the lease away, with this reason. Whoever waits in [`lost`](LeaseContext::lost) is woken. The
    /// first reason stays.
    pub fn lose(&self, reason: LeaseLost) {
        self.made().status.lose(reason);
    }

    /// Lets its deadline pass without a renewal: lost as [`LeaseLost::Expired`], at this moment.
    pub fn expire(&self) {
        if let Some(deadline) = self.made().status.deadline() {
            self.advance(deadline.since(self.clock.now()));
        }
    }

    /// Time passes, and nobody renews the lease: past its deadline it is lost.
    pub fn advance(&self, time: Duration) {
        let status = &self.made().status;
        self.clock.advance(time);
        // The first to look records the loss, which wakes those who wait.
        let _ = status.check();
    }

    /// Time passes while the machine sleeps: past its deadline the lease is lost as
    /// [`LeaseLost::Suspended`].
    pub fn suspend(&self, time: Duration) {
        let status = &self.made().status;
        self.clock.suspend(time);
        let _ = status.check();
    }

    /// The process is asked to stop: what [`LeaseContext::shutdown`] waits for.
    pub fn shut_down(&self) {
        self.shutdown.cancel();
    }

    /// What the handler's [`renew`](LeaseContext::renew) answers from now on; `Ok` by default.
    /// [`RenewError::Lost`] also takes the lease away.
    pub fn answer_renewals(&self, answer: Result<(), RenewError>) {
        locked(&self.renewals).answer = answer;
    }

    /// How often the handler has asked for a renewal.
    #[must_use]
    pub fn renewals(&self) -> usize {
        locked(&self.renewals).times
    }

    fn made(&self) -> &Made {
        self.made.get_or_init(|| {
            let timing = Timing::with_defaults(Some(self.settings.ttl), None, None);
            let trust = Trust::of(&timing);
            let clock: Arc<dyn Clock> = self.clock.clone();
            let deadline = trust.deadline(clock.now());
            let status = Arc::new(LeaseStatus::held(deadline, clock));
            let renewals = self.answering(Arc::clone(&status), trust);
            let mut parts = parts(&self.settings.task, Arc::clone(&status), renewals);
            parts.key.job = self.settings.job;
            parts.key.fence = self.settings.fence;
            parts.attempt = self.settings.attempt;
            parts.ttl = self.settings.ttl;
            parts.scheduled_for = self.settings.scheduled_for;
            parts.shutdown = self.shutdown.clone();
            parts.resource = self
                .settings
                .resource
                .as_ref()
                .map(|(name, fence)| ResourceParts {
                    name: name.as_str().into(),
                    fence: *fence,
                });
            let runtime = match Handle::try_current() {
                Ok(_) => None,
                Err(_) => Builder::new_current_thread().enable_all().build().ok(),
            };
            let context = {
                let _entered = runtime.as_ref().map(Runtime::enter);
                LeaseContext::new(parts)
            };
            Made {
                context,
                status,
                runtime,
            }
        })
    }

    /// Answers the handler's renewals on the spot.
    fn answering(&self, status: Arc<LeaseStatus>, trust: Trust) -> Renewals {
        let (asked, clock) = (Arc::clone(&self.renewals), Arc::clone(&self.clock));
        Renewals::Test(Arc::new(move |request: RenewRequest| {
            let answer = {
                let mut asked = locked(&asked);
                asked.times += 1;
                asked.answer.clone()
            };
            match &answer {
                Ok(()) => {
                    status.extend(trust.deadline(clock.now()));
                }
                Err(RenewError::Lost(reason)) => {
                    status.lose(*reason);
                }
                Err(RenewError::Unconfirmed(_)) => {}
            }
            let _ = request.reply.send(answer);
        }))
    }
}

/// Wherever the test drops it: a runtime that waits for its end may not be dropped in async code.
impl Drop for TestLease {
    fn drop(&mut self) {
        if let Some(runtime) = self.made.take().and_then(|made| made.runtime) {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for TestLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let context = self.made.get().map(|made| &made.context);
        f.debug_struct("TestLease")
            .field("task", &self.settings.task)
            .field("context", &context)
            .finish_non_exhaustive()
    }
}

fn locked(asked: &Mutex<Asked>) -> MutexGuard<'_, Asked> {
    // Nothing panics while it is held.
    asked.lock().unwrap_or_else(PoisonError::into_inner)
}
