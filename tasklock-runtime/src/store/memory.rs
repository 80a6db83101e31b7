//! Jobs and leases in this process's memory: for tests, and as the plainest reading of the contract.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use super::types::{
    Claim, ClaimBatch, ClaimRequest, Declaration, Finish, JobRow, Renewal, Triggered,
};
use super::{Renewer, Store, StoreFuture, Wake};
use crate::error::StoreError;
use crate::lease::{LeaseKey, OwnerToken};
use crate::task::Next;

/// A store that lives as long as the process, and is shared by its clones.
#[derive(Clone)]
pub struct Memory {
    rows: Arc<Mutex<Rows>>,
    announcements: watch::Sender<u64>,
}

#[derive(Default)]
struct Rows {
    jobs: BTreeMap<i64, Job>,
    last_id: i64,
}

struct Job {
    task: String,
    schedule: String,
    due_at: Option<i64>,
    lease: Option<Held>,
    fence: i64,
    attempt: u32,
    crashes: u32,
    last_outcome: Option<String>,
    last_error: Option<String>,
}

struct Held {
    owner: OwnerToken,
    until: i64,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            rows: Arc::default(),
            announcements: watch::Sender::new(0),
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory")
    }
}

impl Memory {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        // Each verb changes rows only after it has looked at all it needs: a panic leaves them whole.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self) {
        self.announcements.send_modify(|count| *count += 1);
    }

    fn now_micros() -> i64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, micros)
    }

    fn claim_now(&self, request: &ClaimRequest) -> ClaimBatch {
        let now = Self::now_micros();
        let mut rows = self.rows();
        let ttl = |task: &str| {
            request
                .tasks
                .iter()
                .find(|(name, _)| name == task)
                .map(|t| t.1)
        };

        let mut takeable: Vec<(bool, i64, i64)> = rows
            .jobs
            .iter()
            .filter(|(_, job)| ttl(&job.task).is_some())
            .filter_map(|(id, job)| match &job.lease {
                None => Some((false, job.due_at.filter(|due| *due <= now)?, *id)),
                Some(held) => (held.until < now).then_some((true, held.until, *id)),
            })
            .collect();
        takeable.sort_unstable();
        let left_behind = takeable.len() > request.limit;
        takeable.truncate(request.limit);

        let claims = takeable
            .into_iter()
            .filter_map(|(takeover, _, id)| {
                let job = rows.jobs.get_mut(&id)?;
                job.fence += 1;
                job.attempt += 1;
                job.crashes += u32::from(takeover);
                job.lease = Some(Held {
                    owner: request.token.clone(),
                    until: now.saturating_add(micros(ttl(&job.task)?)),
                });
                Some(Claim {
                    key: LeaseKey {
                        job: id,
                        fence: job.fence,
                        owner: request.token.clone(),
                    },
                    task: job.task.clone(),
                    due_at: job.due_at.unwrap_or(now),
                    attempt: job.attempt,
                    takeover,
                })
            })
            .collect();

        let next = rows
            .jobs
            .values()
            .filter(|job| ttl(&job.task).is_some())
            .filter_map(|job| {
                job.lease
                    .as_ref()
                    .map_or(job.due_at, |held| Some(held.until))
            })
            .min();
        ClaimBatch {
            now,
            claims,
            wait: if left_behind {
                Some(Duration::ZERO)
            } else {
                next.map(|at| between(now, at))
            },
        }
    }

    fn end(&self, key: &LeaseKey, change: impl FnOnce(&mut Job)) -> Option<i64> {
        let mut rows = self.rows();
        let job = rows.held_by(key)?;
        job.lease = None;
        change(job);
        Some(key.job)
    }

    fn release_now(&self, keys: &[LeaseKey]) -> Vec<i64> {
        let released: Vec<i64> = keys
            .iter()
            .filter_map(|key| self.end(key, |job| job.attempt = job.attempt.saturating_sub(1)))
            .collect();
        self.announce();
        released
    }

    fn inspect_now(&self, jobs: &[i64]) -> Vec<JobRow> {
        let rows = self.rows();
        jobs.iter()
            .filter_map(|id| Some(rows.jobs.get(id)?.row(*id)))
            .collect()
    }
}

impl Rows {
    fn held_by(&mut self, key: &LeaseKey) -> Option<&mut Job> {
        let job = self.jobs.get_mut(&key.job)?;
        let owner = &job.lease.as_ref()?.owner;
        (*owner == key.owner && job.fence == key.fence).then_some(job)
    }
}

impl Job {
    fn row(&self, id: i64) -> JobRow {
        let now = Memory::now_micros();
        JobRow {
            job: id,
            task: self.task.clone(),
            running: self.lease.is_some(),
            owner: self.lease.as_ref().map(|held| held.owner.clone()),
            fence: self.fence,
            left: self.lease.as_ref().map(|held| between(now, held.until)),
            due_at: self.due_at,
            attempt: self.attempt,
            crashes: self.crashes,
            last_outcome: self.last_outcome.clone(),
            last_error: self.last_error.clone(),
        }
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

fn between(from: i64, to: i64) -> Duration {
    Duration::from_micros(u64::try_from(to.saturating_sub(from)).unwrap_or(0))
}

/// Nothing here waits or fails.
fn ready<'a, T: Send + 'a>(value: T) -> StoreFuture<'a, T> {
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
        ready(Self::now_micros())
    }

    fn declare<'a>(&'a self, declarations: &'a [Declaration]) -> StoreFuture<'a, ()> {
        let mut rows = self.rows();
        for declared in declarations {
            if let Some(job) = rows.jobs.values_mut().find(|job| job.task == declared.task) {
                if job.schedule != declared.schedule && job.lease.is_none() {
                    job.schedule.clone_from(&declared.schedule);
                    job.due_at = declared.if_changed;
                }
                continue;
            }
            rows.last_id += 1;
            let id = rows.last_id;
            rows.jobs.insert(
                id,
                Job {
                    task: declared.task.clone(),
                    schedule: declared.schedule.clone(),
                    due_at: declared.if_new,
                    lease: None,
                    fence: 0,
                    attempt: 0,
                    crashes: 0,
                    last_outcome: None,
                    last_error: None,
                },
            );
        }
        drop(rows);
        self.announce();
        ready(())
    }

    fn claim<'a>(&'a self, request: &'a ClaimRequest) -> StoreFuture<'a, ClaimBatch> {
        ready(self.claim_now(request))
    }

    fn finish<'a>(&'a self, ends: &'a [Finish]) -> StoreFuture<'a, Vec<i64>> {
        let now = Self::now_micros();
        let finished = ends
            .iter()
            .filter_map(|end| {
                self.end(&end.key, |job| {
                    job.due_at = match end.next {
                        Next::At(at) => Some(at),
                        Next::In(delay) => Some(now.saturating_add(micros(delay))),
                        Next::Dormant => None,
                    };
                    job.attempt = 0;
                    job.crashes = 0;
                    job.last_outcome = Some(end.outcome.to_owned());
                    job.last_error.clone_from(&end.error);
                })
            })
            .collect();
        ready(finished)
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

    fn trigger<'a>(&'a self, task: &'a str) -> StoreFuture<'a, Option<Triggered>> {
        let now = Self::now_micros();
        let mut rows = self.rows();
        let found = rows
            .jobs
            .values_mut()
            .find(|job| job.task == task)
            .map(|job| {
                if job.lease.is_some() {
                    Triggered::AlreadyRunning
                } else if job.due_at.is_some_and(|due| due <= now) {
                    Triggered::AlreadyQueued
                } else {
                    job.due_at = Some(now);
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
        let rows = self.rows();
        let row = rows.jobs.iter().find(|(_, job)| job.task == task);
        ready(row.map(|(id, job)| job.row(*id)))
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
        let now = Self::now_micros();
        let mut rows = self.rows();
        let renewed = renewals
            .iter()
            .filter_map(|renewal| {
                let held = rows.held_by(&renewal.key)?.lease.as_mut()?;
                held.until = held.until.max(now.saturating_add(micros(renewal.ttl)));
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

    fn reset(&mut self) {}
}
