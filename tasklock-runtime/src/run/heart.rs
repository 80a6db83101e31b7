//! The one heartbeat of a process's worker and clients: started when there is something to renew.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::gathered::Gathered;
use super::heartbeat::Heartbeat;
use super::named::{Acquisitions, Waiting};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::Error;
use crate::lease::Clock;
use crate::store::Store;

/// How many calls of clients are under way at once, of a pool's six connections.
const CLIENT_CALLS: usize = 2;
/// And how many that give up places in a line, or what a lost acquisition may have taken: they must not wait behind those.
const LEAVES: usize = 1;

/// Shared by a worker and the clients of its runtime, so that all their leases go in the same batches.
pub(crate) struct Heart {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    heartbeat: Mutex<Option<Arc<Heartbeat>>>,
    waiting: Waiting,
    /// Clients wait for rows that others have locked: they must leave connections to the claims and ends of a worker.
    turns: Semaphore,
    leaves: Semaphore,
    acquisitions: Acquisitions,
    gathered: Gathered,
}

impl fmt::Debug for Heart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Heart")
    }
}

impl Heart {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self {
            store,
            clock,
            heartbeat: Mutex::new(None),
            waiting: Waiting::default(),
            turns: Semaphore::new(CLIENT_CALLS),
            leaves: Semaphore::new(LEAVES),
            acquisitions: Acquisitions::default(),
            gathered: Gathered::default(),
        })
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// A client's turn to call the store.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.turns.acquire().await.ok()
    }

    /// The turn of who gives up a place in a line, or an acquisition.
    pub(super) async fn leaving(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.leaves.acquire().await.ok()
    }

    pub(super) fn acquisitions(&self) -> &Acquisitions {
        &self.acquisitions
    }

    /// Jobs that callers enqueue at once.
    pub(super) fn gathered(&self) -> &Gathered {
        &self.gathered
    }

    pub(super) fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The heartbeat, which is started if there is none, or none that lives.
    pub(crate) fn beat(&self) -> Result<Arc<Heartbeat>, Error> {
        let mut heartbeat = self
            .heartbeat
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match &*heartbeat {
            Some(beating) if !beating.is_dead() => Ok(Arc::clone(beating)),
            _ => {
                let started = Heartbeat::start(self.store.renewer(), Arc::clone(&self.clock))?;
                Ok(Arc::clone(heartbeat.insert(Arc::new(started))))
            }
        }
    }

    /// The worker has ended: the heartbeat ends, unless clients still have leases; then it does with them.
    pub(crate) fn rest(&self, last: Arc<Heartbeat>) {
        let mut heartbeat = self
            .heartbeat
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        drop(heartbeat.take());
        match Arc::try_unwrap(last) {
            Ok(last) => last.stop(),
            Err(shared) => {
                shared.rest();
                *heartbeat = Some(shared);
            }
        }
    }
}
