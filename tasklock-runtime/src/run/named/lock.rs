//! Named leases that a run takes.

use std::sync::Arc;
use std::time::Duration;

use super::{LeaseGuard, LeaseRequest};
use crate::error::Error;
use crate::lease::{LeaseContext, LeaseLost};
use crate::run::heart::Heart;

/// Why a run did not get a named lease.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The run's own lease is lost.
    #[error(transparent)]
    Lost(#[from] LeaseLost),
    /// The name can be none, or the store does not give it.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// As long as the run's lease lasts.
const LONGEST: Duration = Duration::MAX;

impl LeaseContext {
    /// Waits for a [named lease](crate::Client::lease), as long as this run's own lease is held: for a name that is known
    /// only in the middle of the run. Where it is known when the job is enqueued, the attribute's `resource` keeps the
    /// job from starting until the name is free, and no slot waits.
    ///
    /// The guard is tied to the run: it is lost as soon as the run's lease is, and
    /// [`guard.commit(tx)`](Self::commit) commits only while both are held. Losing it does not lose the run. It lasts as
    /// long without renewal as the run's lease does, and is given back with the guard's last clone, or expires.
    ///
    /// It waits in the run's slot, for as long as the lease lasts. Whoever takes several names takes them in one order
    /// everywhere: two runs that each wait for the other's wait for as long as they live, and so does a run that
    /// locks a name which it has locked already. Under `renew = "progress"` or `"manual"` waiting is no report and no
    /// renewal: report, or renew, beside it.
    ///
    /// # Errors
    ///
    /// [`LockError::Lost`] if this run's lease is lost before; else [`Error::Option`] for a name that can be none, or that this run
    /// has already as its `resource`; the store's error, as [`acquire_within`](LeaseRequest::acquire_within).
    pub async fn lock(&self, name: impl Into<String>) -> Result<LeaseGuard, LockError> {
        self.check()?;
        let request = self.request(name.into())?;
        let acquired = tokio::select! {
            biased;
            lost = self.lost() => return Err(LockError::Lost(lost)),
            acquired = request.acquire_within(LONGEST) => acquired?,
        };
        self.check()?;
        // It waits for longer than anything lasts.
        acquired.ok_or_else(|| Error::option("lock", "the name was not to be had").into())
    }

    /// The same without waiting: `None` if somebody else holds the name, or waits for it.
    ///
    /// # Errors
    ///
    /// As [`lock`](Self::lock).
    pub async fn try_lock(&self, name: impl Into<String>) -> Result<Option<LeaseGuard>, LockError> {
        self.check()?;
        Ok(self.request(name.into())?.try_acquire().await?)
    }

    /// Like [`lock`](Self::lock), blocking the thread.
    ///
    /// # Panics
    ///
    /// In async code, whose thread must not be blocked: `lock(name).await` there.
    ///
    /// # Errors
    ///
    /// As [`lock`](Self::lock).
    #[track_caller]
    pub fn blocking_lock(&self, name: impl Into<String>) -> Result<LeaseGuard, LockError> {
        let locked = self.lock(name);
        self.block_on("blocking_lock(name)", "lock(name).await", locked)
    }

    fn request(&self, name: String) -> Result<LeaseRequest, Error> {
        let parts = self.parts();
        let home = parts.home.upgrade().map(Arc::downcast::<Heart>);
        let Some(Ok(heart)) = home else {
            return Err(Error::option(
                format!("lock({name:?})"),
                "this lease is of a test, and there is no store to have the other one from",
            ));
        };
        if parts.is_named && *parts.task == *name {
            return Err(Error::option(
                format!("lock({name:?})"),
                "this is the lease of that name: it would wait for itself; clone the guard instead",
            ));
        }
        if self.resource() == Some(&*name) {
            return Err(Error::option(
                format!("lock({name:?})"),
                "this run has the name already, as its task's `resource`: it would wait for itself",
            ));
        }
        Ok(LeaseRequest {
            heart,
            name,
            worker: format!("{} #{}", parts.task, parts.key.job),
            ttl: Some(parts.ttl),
            shutdown: parts.shutdown.clone(),
            run: Some(self.clone()),
        })
    }
}
