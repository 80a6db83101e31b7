//! A named lease that is held.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::lease::{LeaseContext, LeaseStatus};
use crate::run::heart::Heart;
use crate::run::heartbeat::{Heartbeat, Keeping};

/// A named lease that is held. It is renewed while a clone of this lives; the last one gives it back.
/// That is done in the background: a program that ends right after it calls [`release`](LeaseGuard::release), else the lease
/// lasts for the rest of its ttl.
///
/// It is a [`LeaseContext`] by `Deref`: `guard.check()?`, `guard.fence()`, `guard.commit(tx).await`. Its `task()` is the
/// lease's name, and `complete_in(tx)` commits and gives the lease back in one.
#[derive(Clone)]
#[must_use = "the lease is given back at once when this is dropped"]
pub struct LeaseGuard(pub(super) Arc<Held>);

pub(super) struct Held {
    pub(super) context: LeaseContext,
    pub(super) status: Arc<LeaseStatus>,
    pub(super) keeping: Option<Keeping>,
    pub(super) ttl: Duration,
    pub(super) heart: Arc<Heart>,
    /// It lives as long as there is something to renew.
    pub(super) _heartbeat: Arc<Heartbeat>,
}

impl LeaseGuard {
    /// The lease, to hand on; it outlives the guard as a lost one.
    #[must_use]
    pub fn context(&self) -> LeaseContext {
        self.0.context.clone()
    }

    /// Gives the lease back, if this is its last clone, and waits until the store has it: then somebody else can have it at
    /// once. Where the store does not answer, this returns when the lease has expired. With other
    /// clones left it does nothing but drop this one.
    pub async fn release(self) {
        if let Some(mut held) = Arc::into_inner(self.0)
            && let Some(returned) = held.give_back()
        {
            let _ = returned.await;
        }
    }
}

impl Held {
    fn give_back(&mut self) -> Option<tokio::sync::oneshot::Receiver<()>> {
        let keeping = self.keeping.take()?;
        self.status.seal();
        // The store's expiry is no later than this.
        let until = self.heart.clock().now() + self.ttl;
        Some(keeping.give_back(until))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl Deref for LeaseGuard {
    type Target = LeaseContext;

    fn deref(&self) -> &LeaseContext {
        &self.0.context
    }
}

impl fmt::Debug for LeaseGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LeaseGuard").field(&self.0.context).finish()
    }
}
