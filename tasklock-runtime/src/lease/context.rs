//! What a handler sees of its lease.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::completing::Completing;
use super::guard::{Anchor, CommitError, GuardedTransaction};
use super::identity::{LeaseKey, OwnerToken};
use super::lost::LeaseLost;
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
pub struct LeaseContext(Arc<ContextParts>, Option<Handle>);

/// What a context is made of.
pub(crate) struct ContextParts {
    pub(crate) task: Arc<str>,
    /// What the fences of this lease are numbers of.
    pub(crate) fence_name: Arc<str>,
    pub(crate) key: LeaseKey,
    pub(crate) attempt: u32,
    pub(crate) scheduled_for: Timestamp,
    pub(crate) status: Arc<LeaseStatus>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) renewals: mpsc::UnboundedSender<RenewRequest>,
    pub(crate) anchor: Arc<Anchor>,
    pub(crate) completion: Completing,
}

/// Asks the heartbeat for a renewal at once.
#[derive(Debug)]
pub(crate) struct RenewRequest {
    pub(crate) key: LeaseKey,
    pub(crate) reply: oneshot::Sender<Result<(), RenewError>>,
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

    /// A token that is cancelled when the lease is lost, for code that takes one. It is a child:
    /// cancelling it does not lose the lease.
    #[must_use]
    pub fn cancellation_token(&self) -> CancellationToken {
        self.0.status.token().child_token()
    }

    /// How much longer the lease may be trusted without another renewal; zero once lost.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.0.status.check().unwrap_or(Duration::ZERO)
    }

    /// Asks the store now, without waiting for the next heartbeat. `Ok` means that the store has
    /// confirmed the lease after this call began.
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

    /// Commits the application's own transaction, if and only if the lease is still held: the check and
    /// the commit are one. Of this database only, and with the lease's row unchanged since the claim,
    /// whatever pause there was. Keep it the transaction's last step: from the check to the commit
    /// takeover waits for it, and on SQLite so does every other writer.
    ///
    /// Works at READ COMMITTED, REPEATABLE READ and SERIALIZABLE on Postgres. On SQLite begin the
    /// transaction with `BEGIN IMMEDIATE` (`pool.begin_with("BEGIN IMMEDIATE")`): a deferred one works
    /// too, but answers [`Retry`](CommitError::Retry) where another writer came between. After any error
    /// of a statement in it give the transaction up: on SQLite it may be over by then, and what follows
    /// is committed unguarded.
    ///
    /// It must be the outermost transaction: of a nested one `Ok` means that its savepoint was released,
    /// and no more. What is promised on which store, and what shows it, stands in the repository's
    /// `GUARANTEES.md`.
    ///
    /// # Errors
    ///
    /// See [`CommitError`]. In every case but [`Unknown`](CommitError::Unknown) nothing was committed.
    pub async fn commit(&self, tx: impl GuardedTransaction) -> Result<(), CommitError> {
        self.commit_under(tx, false, &|| self.check()).await
    }

    /// Like [`commit`](Self::commit), and marks the job as succeeded in the same transaction: its effects
    /// and its end are one, **exactly once** in this database. Make it the last thing that the handler
    /// does: the lease ends with it, so that the next run may start at once, beside what is left of this
    /// one; and an error that the handler returns afterwards is logged, but not recorded any more.
    ///
    /// # Errors
    ///
    /// See [`CommitError`]. Where COMMIT itself fails, the lease is lost by then: after
    /// [`Unknown`](CommitError::Unknown) the job may be done, and where it is not it runs again.
    pub async fn complete_in(&self, tx: impl GuardedTransaction) -> Result<(), CommitError> {
        let completion = &self.0.completion;
        completion.begin();
        // Whoever still has this context must see the lease lost before anybody else can claim.
        let last = || {
            self.0
                .status
                .seal()
                .map(|_deadline| completion.seal())
                .ok_or_else(|| self.reason())
        };
        let done = self.commit_under(tx, true, &last).await;
        completion.settle(done.is_ok());
        done
    }

    async fn commit_under(
        &self,
        tx: impl GuardedTransaction,
        complete: bool,
        last: &(dyn Fn() -> Result<(), LeaseLost> + Sync),
    ) -> Result<(), CommitError> {
        if let Err(lost) = self.check() {
            tx.give_up().await;
            return Err(CommitError::Lost(lost));
        }
        let committed = tx.commit_under(&*self.0.anchor, complete, last).await;
        match (committed, self.check()) {
            // A snapshot that cannot lock the row any more says "again" where another owner has it.
            (Err(CommitError::Retry(_)), Err(lost)) => Err(CommitError::Lost(lost)),
            (Err(CommitError::Lost(_)), _) => {
                Err(CommitError::Lost(self.0.status.lose(LeaseLost::TakenOver)))
            }
            (committed, _) => committed,
        }
    }

    fn reason(&self) -> LeaseLost {
        self.check().err().unwrap_or(LeaseLost::Expired)
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
