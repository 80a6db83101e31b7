//! The trait's verbs.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::Memory;
use crate::error::StoreError;
use crate::lease::{Anchor, LeaseKey, OwnerToken, Progress};
use crate::store::{
    Acquire, Acquired, ClaimBatch, ClaimRequest, Declaration, Enqueued, Finish, JobRow, NewJob,
    News, Renewal, Renewer, Store, StoreFuture, Triggered, Wake,
};
use crate::task::micros;

/// As databases keep it.
fn kept(progress: Progress) -> Progress {
    let most = |number: u64| number.min(i64::MAX.unsigned_abs());
    Progress::new(most(progress.done), most(progress.total))
}

/// Nothing here waits or fails.
pub(super) fn ready<'a, T: Send + 'a>(value: T) -> StoreFuture<'a, T> {
    Box::pin(async move { Ok::<_, StoreError>(value) })
}

impl Store for Memory {
    fn name(&self) -> &str {
        "memory"
    }

    fn migrate(&self) -> StoreFuture<'_, ()> {
        ready(())
    }

    fn check_schema(&self) -> StoreFuture<'_, ()> {
        ready(())
    }

    fn now(&self) -> StoreFuture<'_, i64> {
        ready(self.now_micros())
    }

    fn declare<'a>(&'a self, declarations: &'a [Declaration]) -> StoreFuture<'a, bool> {
        ready(self.declare_now(declarations))
    }

    fn tend<'a>(&'a self, declarations: &'a [Declaration]) -> StoreFuture<'a, Vec<String>> {
        ready(self.tend_now(declarations))
    }

    fn claim<'a>(&'a self, request: &'a ClaimRequest) -> StoreFuture<'a, ClaimBatch> {
        ready(self.claim_now(request))
    }

    fn acquire<'a>(&'a self, wanted: &'a [Acquire]) -> StoreFuture<'a, Vec<Acquired>> {
        ready(self.acquire_now(wanted))
    }

    fn leave<'a>(&'a self, _name: &'a str, ticket: &'a OwnerToken) -> StoreFuture<'a, ()> {
        self.leave_now(ticket);
        ready(())
    }

    fn watch_leases(
        &self,
        hear: Box<dyn Fn(News) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.watch(Box::new(move |wake| hear(wake.into())))
    }

    fn finish<'a>(&'a self, ends: &'a [Finish]) -> StoreFuture<'a, Vec<i64>> {
        ready(self.finish_now(ends))
    }

    fn release<'a>(&'a self, keys: &'a [LeaseKey]) -> StoreFuture<'a, Vec<i64>> {
        ready(self.release_now(keys))
    }

    fn abandon<'a>(&'a self, token: &'a OwnerToken) -> StoreFuture<'a, u64> {
        let keys: Vec<LeaseKey> = self
            .rows()
            .jobs
            .iter()
            .filter(|(_, job)| job.lease.as_ref().is_some_and(|held| held.owner == *token))
            .map(|(id, job)| LeaseKey {
                job: *id,
                fence: job.fence,
                owner: token.clone(),
            })
            .collect();
        ready(self.release_now(&keys).len() as u64)
    }

    fn assign<'a>(&'a self, key: &'a LeaseKey, resource: &'a str) -> StoreFuture<'a, ()> {
        let mut rows = self.rows();
        if let Some(job) = rows.held_by(key) {
            job.resource.get_or_insert_with(|| resource.to_owned());
        }
        drop(rows);
        self.release_now(std::slice::from_ref(key));
        ready(())
    }

    fn enqueue<'a>(&'a self, jobs: &'a [NewJob]) -> StoreFuture<'a, Vec<Enqueued>> {
        ready(self.enqueue_now(jobs))
    }

    /// Memory has no transactions: those of any database are refused.
    fn insertion(&self) -> Arc<Anchor> {
        Arc::new(())
    }

    fn prune(&self, most: usize) -> StoreFuture<'_, usize> {
        ready(self.prune_now(most))
    }

    fn trigger<'a>(&'a self, task: &'a str) -> StoreFuture<'a, Option<Triggered>> {
        let mut rows = self.rows();
        // Read under the lock: a later caller must not find an earlier one's due time ahead.
        let now = self.now_micros();
        let task = rows.present(task, now).to_owned();
        let found = rows.standing(&task).map(|(_, job)| {
            if job.lease.is_some() {
                Triggered::AlreadyRunning
            } else if job.parked.is_some() || job.due_at.is_some_and(|due| due <= now) {
                Triggered::AlreadyQueued
            } else {
                job.due_at = Some(now.max(job.hold_until.unwrap_or(now)));
                Triggered::Queued
            }
        });
        drop(rows);
        self.announce();
        ready(found)
    }

    fn inspect<'a>(&'a self, jobs: &'a [i64]) -> StoreFuture<'a, Vec<JobRow>> {
        ready(self.inspect_now(jobs))
    }

    fn standing<'a>(&'a self, task: &'a str) -> StoreFuture<'a, Option<JobRow>> {
        let now = self.now_micros();
        let mut rows = self.rows();
        ready(rows.standing(task).map(|(id, job)| job.row(id, now)))
    }

    fn anchor(&self, end: Finish, _ttl: Duration) -> Arc<Anchor> {
        self.anchor_of(end)
    }

    fn renewer(&self) -> Box<dyn Renewer> {
        Box::new(self.clone())
    }

    fn watch(
        &self,
        wake: Box<dyn Fn(Wake) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let mut announcements = self.announcements.subscribe();
        Box::pin(async move {
            wake(Wake::Live);
            while announcements.changed().await.is_ok() {
                wake(Wake::Work);
            }
        })
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
    }
}

impl Renewer for Memory {
    fn connect(&mut self) -> StoreFuture<'_, ()> {
        ready(())
    }

    fn renew<'a>(&'a mut self, renewals: &'a [Renewal]) -> StoreFuture<'a, Vec<i64>> {
        let now = self.now_micros();
        let mut rows = self.rows();
        let renewed = renewals
            .iter()
            .filter_map(|renewal| {
                let job = rows.held_by(&renewal.key).filter(|job| !job.to_cancel())?;
                let held = job.lease.as_mut()?;
                held.until = held.until.max(now.saturating_add(micros(renewal.ttl)));
                held.progress = renewal.progress.map(kept).or(held.progress);
                Some(renewal.key.job)
            })
            .collect();
        drop(rows);
        ready(renewed)
    }

    fn inspect<'a>(&'a mut self, jobs: &'a [i64]) -> StoreFuture<'a, Vec<JobRow>> {
        ready(self.inspect_now(jobs))
    }

    fn release<'a>(&'a mut self, keys: &'a [LeaseKey]) -> StoreFuture<'a, Vec<i64>> {
        ready(self.release_now(keys))
    }

    /// All who wait look at each change.
    fn tell<'a>(&'a mut self, _: &'a [LeaseKey]) -> StoreFuture<'a, ()> {
        ready(())
    }

    fn reset(&mut self) {}
}
