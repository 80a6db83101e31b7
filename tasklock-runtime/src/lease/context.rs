//! What a handler sees of its lease.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::completing::Completing;
use super::guard::Anchor;
use super::identity::{LeaseKey, OwnerToken};
use super::lost::LeaseLost;
use super::renewals::{RenewRequest, Renewals};
use super::status::LeaseStatus;

/// Timers stand still while the machine is suspended; a waiting `lost()` looks at the clock again at
/// least this often, so that it is not late by more than this after a suspend.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The lease that a handler runs under. Cheap to clone; every clone sees the same lease.
///
/// Work that must stop when the lease is lost asks [`check`](Self::check) before each step that
/// others can see, or waits for [`lost`](Self::lost) beside what it does:
///
/// ```
/// use tasklock_runtime::{LeaseContext, TaskResult};
///
/// async fn import(lease: LeaseContext) -> TaskResult {
///     for page in 0..3 {
///         lease.check()?; // Err(LeaseLost) as soon as the lease is lost
///         println!("page {page}, fence {}", lease.fence());
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct LeaseContext(pub(super) Arc<ContextParts>, Option<Handle>);

/// What a context is made of.
pub(crate) struct ContextParts {
    pub(crate) task: Arc<str>,
    /// Whether `task` is the name of a named lease.
    pub(crate) is_named: bool,
    /// What the fences of this lease are numbers of.
    pub(crate) fence_name: Arc<str>,
    pub(crate) key: LeaseKey,
    pub(crate) attempt: u32,
    pub(crate) scheduled_for: Timestamp,
    pub(crate) ttl: Duration,
    pub(crate) status: Arc<LeaseStatus>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) renewals: Renewals,
    /// The rows that a guarded transaction looks at, the run's own first.
    pub(crate) anchors: Vec<Arc<Anchor>>,
    /// The run's second lease.
    pub(crate) resource: Option<ResourceParts>,
    /// Where further leases are had, opaque here; not kept alive by a context that outlives its run.
    pub(crate) home: Weak<Anchor>,
    pub(crate) completion: Completing,
}

/// What is known of a run's second lease.
#[derive(Debug, Clone)]
pub(crate) struct ResourceParts {
    pub(crate) name: Arc<str>,
    pub(crate) fence: i64,
}

/// Why [`LeaseContext::renew`] could not confirm the lease.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenewError {
    /// The lease is lost.
    Lost(LeaseLost),
    /// The store did not confirm: it was unreachable, or another transaction holds the job's row.
    /// The lease is still held up to its old deadline, and the heartbeat goes on trying.
    Unconfirmed(String),
}

impl fmt::Display for RenewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(lost) => lost.fmt(f),
            Self::Unconfirmed(why) => {
                write!(
                    f,
                    "the renewal was not confirmed, the lease is held as before: {why}"
                )
            }
        }
    }
}

impl std::error::Error for RenewError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Lost(lost) => Some(lost),
            Self::Unconfirmed(_) => None,
        }
    }
}

impl LeaseContext {
    pub(crate) fn new(parts: ContextParts) -> Self {
        Self(Arc::new(parts), Handle::try_current().ok())
    }

    /// The tokio runtime that the run is made on.
    pub(super) fn runtime(&self) -> Option<&Handle> {
        self.1.as_ref()
    }

    /// Whether the lease is lost: one atomic load and one reading of the clock. It never waits, and
    /// does not depend on any timer or thread having run.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.check().is_err()
    }

    /// `Ok` while the lease is held.
    ///
    /// # Errors
    ///
    /// [`LeaseLost`] with the reason, once lost and for ever after.
    pub fn check(&self) -> Result<(), LeaseLost> {
        self.0.status.check().map(|_left| ())
    }

    /// Waits until the lease is lost, and says why.
    pub async fn lost(&self) -> LeaseLost {
        loop {
            match self.0.status.check() {
                Err(lost) => return lost,
                Ok(left) => tokio::select! {
                    () = self.0.status.token().cancelled() => {}
                    () = tokio::time::sleep(left.min(LOOK_AGAIN)) => {}
                },
            }
        }
    }

    /// The same for a run's own use, woken once for each deadline: the heartbeat looks at the clock for all leases, also
    /// after a suspend.
    pub(crate) async fn lost_by_deadline(&self) -> LeaseLost {
        loop {
            match self.0.status.check() {
                Err(lost) => return lost,
                Ok(left) => tokio::select! {
                    () = self.0.status.token().cancelled() => {}
                    () = tokio::time::sleep(left) => {}
                },
            }
        }
    }

    /// A token that is cancelled when the lease is lost, for code that takes one. It is a child:
    /// cancelling it does not lose the lease.
    #[must_use]
    pub fn cancellation_token(&self) -> CancellationToken {
        self.0.status.token().child_token()
    }

    /// How much longer the lease may be trusted without another renewal or report; zero once lost.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.0.status.check().unwrap_or(Duration::ZERO)
    }

    /// Asks the store now, without waiting for the next heartbeat. `Ok` means that the store has
    /// confirmed the lease after this call began. With `renew = "manual"` nothing else renews it.
    ///
    /// # Errors
    ///
    /// [`RenewError::Lost`] when the lease is lost; [`RenewError::Unconfirmed`] when the store gave
    /// no confirmation this time, which loses nothing by itself.
    pub async fn renew(&self) -> Result<(), RenewError> {
        self.check().map_err(RenewError::Lost)?;
        let (reply, answer) = oneshot::channel();
        let request = RenewRequest {
            key: self.0.key.clone(),
            reply,
        };
        if self.0.renewals.send(request).is_ok() {
            tokio::select! {
                answer = answer => if let Ok(answer) = answer { return answer },
                lost = self.lost() => return Err(RenewError::Lost(lost)),
            }
        }
        self.check().map_err(RenewError::Lost)?;
        Err(RenewError::Unconfirmed("the heartbeat has ended".into()))
    }

    pub(crate) fn parts(&self) -> &ContextParts {
        &self.0
    }

    pub(crate) fn completion(&self) -> &Completing {
        &self.0.completion
    }

    /// The fence: greater than that of every earlier acquisition of this job. Hand it to other
    /// systems that can refuse a smaller one.
    #[must_use]
    pub fn fence(&self) -> i64 {
        self.0.key.fence
    }

    /// The name under which the fence counts: that of the task for its one standing job, `task#id` for an enqueued job, and
    /// `lease:name` for a named lease. Hand it to [`fence_table`](crate::fence_table) and to other systems, for two
    /// jobs of a task have fences of their own.
    #[must_use]
    pub fn fence_name(&self) -> &str {
        &self.0.fence_name
    }

    /// The name of the run's second lease, where its task has a `resource`.
    #[must_use]
    pub fn resource(&self) -> Option<&str> {
        self.0.resource.as_ref().map(|resource| &*resource.name)
    }

    /// The fence of the second lease, where the task has a `resource`: greater than that of every earlier acquisition of
    /// its name, by whatever task or hand. With [`fence_table`](crate::fence_table) it counts under `lease:name`, as
    /// for a named lease.
    #[must_use]
    pub fn resource_fence(&self) -> Option<i64> {
        self.0.resource.as_ref().map(|resource| resource.fence)
    }

    /// The owner token of this acquisition.
    #[must_use]
    pub fn owner(&self) -> &OwnerToken {
        &self.0.key.owner
    }

    /// The task's name in the store.
    #[must_use]
    pub fn task(&self) -> &str {
        &self.0.task
    }

    /// The job's id in the store.
    #[must_use]
    pub fn job_id(&self) -> i64 {
        self.0.key.job
    }

    /// Which attempt at this job or slot this is, counted from 1. Runs that ended in a crash or a
    /// lost lease are counted too.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.0.attempt
    }

    /// The moment this run was due, by the store's clock: the slot of a scheduled task, or the moment
    /// it was triggered.
    #[must_use]
    pub fn scheduled_for(&self) -> Timestamp {
        self.0.scheduled_for
    }

    /// Waits until the process is asked to stop. A handler that ends soon after is recorded as
    /// usual; one that does not is dropped when the grace period ends, its lease is given back, and
    /// it runs again elsewhere.
    pub async fn shutdown(&self) {
        self.0.shutdown.cancelled().await;
    }

    /// Whether the process was asked to stop.
    #[must_use]
    pub fn is_shutting_down(&self) -> bool {
        self.0.shutdown.is_cancelled()
    }
}

impl fmt::Debug for LeaseContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseContext")
            .field("task", &self.0.task)
            .field("job_id", &self.0.key.job)
            .field("fence", &self.0.key.fence)
            .field("attempt", &self.0.attempt)
            .field("remaining", &self.0.status.check())
            .finish_non_exhaustive()
    }
}
