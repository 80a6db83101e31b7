//! Jobs and leases in this process's memory: for tests, and as the plainest reading of the contract.

mod rows;
mod verbs;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use super::{Claim, ClaimBatch, ClaimRequest, JobRow, between};
use crate::lease::LeaseKey;
use crate::task::micros;
use rows::{Held, Job, Rows};

/// A store that lives as long as the process, and is shared by its clones.
#[derive(Clone)]
pub struct Memory {
    rows: Arc<Mutex<Rows>>,
    announcements: watch::Sender<u64>,
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
