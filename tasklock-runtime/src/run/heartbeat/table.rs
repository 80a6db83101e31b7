//! The leases in the heartbeat's hands.
//!
//! Runs put theirs in and take them out, the thread does all that lies in between; both by one lock, for a run that is
//! over in microseconds should not cost two turns of another thread. It is held for a look at each lease at most, and
//! never while anybody waits. What makes this safe is `beating`, which the thread sets under the lock before a
//! renewal of the lease is on its way, and clears under it when the answer has been noted: who finds it unset takes
//! the lease out, and then nobody has a renewal of it under way, nor will have; who finds it set leaves word in the
//! lease, and is told when it is out.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};

use super::Kept;
use super::lease::Lease;
use crate::lease::{LeaseKey, LeaseLost, Moment};

pub(super) struct Table {
    /// By acquisition: a job that was lost and taken again here has two, and a store that lost its last
    /// commits may give the same fence out twice.
    pub(super) leases: HashMap<LeaseKey, Lease>,
    /// Nothing is to be done before this.
    pub(super) wake_at: Moment,
    /// The thread has ended: nobody would renew a lease, or tell its handler.
    is_closed: bool,
}

impl Table {
    pub(super) fn wake_by(&mut self, at: Moment) {
        self.wake_at = self.wake_at.min(at);
    }
}

pub(super) struct Shared {
    table: Mutex<Table>,
    /// There is something to be done earlier than the thread knew.
    pub(super) earlier: Notify,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            table: Mutex::new(Table {
                leases: HashMap::new(),
                wake_at: Moment::from_nanos(u64::MAX),
                is_closed: false,
            }),
            earlier: Notify::new(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn keep(&self, kept: Kept) {
        let lease = Lease::new(kept);
        let deadline = lease.kept.status.deadline().unwrap_or(lease.next_beat);
        let at = lease.next_beat.min(deadline);
        let mut table = self.lock();
        if table.is_closed {
            drop(table);
            lease.kept.status.lose(LeaseLost::StoreUnreachable);
            return;
        }
        let is_earlier = at < table.wake_at;
        table.wake_by(at);
        table.leases.insert(lease.kept.key.clone(), lease);
        drop(table);
        if is_earlier {
            self.earlier.notify_one();
        }
    }

    pub(super) fn is_beating(&self, key: &LeaseKey) -> bool {
        let table = self.lock();
        table.leases.get(key).is_some_and(|lease| lease.beating)
    }

    /// Takes it out; or, where a renewal is under way, answers who tells when it is out.
    pub(super) fn forget(&self, key: &LeaseKey) -> Option<oneshot::Receiver<()>> {
        let mut table = self.lock();
        match table.leases.get_mut(key) {
            Some(lease) if lease.beating => {
                let (done, forgotten) = oneshot::channel();
                lease.forget = Some(done);
                Some(forgotten)
            }
            _ => {
                let lease = table.leases.remove(key);
                // Dropped without the lock.
                drop(table);
                drop(lease);
                None
            }
        }
    }

    /// Only in case the thread panics are there leases left: whoever still holds one must not go on believing.
    pub(super) fn close(&self) {
        let mut table = self.lock();
        table.is_closed = true;
        let left = std::mem::take(&mut table.leases);
        drop(table);
        for lease in left.into_values() {
            lease.kept.status.lose(LeaseLost::StoreUnreachable);
        }
    }
}
