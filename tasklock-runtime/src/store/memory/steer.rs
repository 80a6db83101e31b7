//! Jobs as applications and operators see them.

use super::Memory;
use super::end::cancel;
use super::rows::{Rows, Stored};
use super::verbs::ready;
use crate::store::{
    Cancelled, Due, Enqueued, Job, JobQuery, JobState, LEASES, NewJob, Pausable, Retried, Steer,
    StoreFuture,
};
use crate::task::micros;

impl Memory {
    pub(super) fn enqueue_now(&self, jobs: &[NewJob]) -> Vec<Enqueued> {
        let now = self.now_micros();
        let mut rows = self.rows();
        let enqueued = jobs
            .iter()
            .map(|job| enqueue(&mut rows, job, now))
            .collect();
        drop(rows);
        self.announce();
        enqueued
    }

    /// The newest first.
    pub(crate) fn jobs_now(&self, query: &JobQuery) -> Vec<Job> {
        let rows = self.rows();
        let is_asked_for = |job: &Stored| {
            job.task != LEASES
                && query.task.as_ref().is_none_or(|task| job.task == *task)
                && query.states.contains(&job.state)
        };
        let older = rows.jobs.range(..query.before).rev();
        let found = older.filter(|(_, job)| is_asked_for(job)).take(query.limit);
        found.map(|(id, job)| job.job(*id)).collect()
    }

    pub(super) fn prune_now(&self, most: usize) -> usize {
        let now = self.now_micros();
        let mut rows = self.rows();
        let is_over = |job: &Stored| {
            let ended = job.state.is_ended() || (job.task == LEASES && job.lease.is_none());
            ended && job.prune_at.is_some_and(|at| at <= now)
        };
        let over = rows.jobs.iter().filter(|(_, job)| is_over(job));
        let over: Vec<i64> = over.map(|(id, _)| *id).take(most).collect();
        for id in &over {
            rows.jobs.remove(id);
        }
        over.len()
    }
}

/// A job, and not a named lease.
fn visible(rows: &Rows, job: i64) -> Option<&Stored> {
    rows.jobs.get(&job).filter(|job| job.task != LEASES)
}

fn enqueue(rows: &mut Rows, new: &NewJob, now: i64) -> Enqueued {
    let key = new.unique_key.as_deref();
    if let Some(holder) = key.and_then(|key| rows.holder(&new.task, key)) {
        return Enqueued::Existing(holder);
    }
    let mut job = Stored::new(&new.task, now);
    job.payload = new.payload.as_deref().map(Into::into);
    job.priority = new.priority;
    job.unique_key.clone_from(&new.unique_key);
    job.resource.clone_from(&new.resource);
    job.due_at = Some(match new.due {
        Due::At(at) => at,
        Due::In(delay) => now.saturating_add(micros(delay)),
    });
    Enqueued::New(rows.insert(job))
}

impl Steer for Memory {
    fn job(&self, job: i64) -> StoreFuture<'_, Option<Job>> {
        let rows = self.rows();
        ready(visible(&rows, job).map(|stored| stored.job(job)))
    }

    fn jobs<'a>(&'a self, query: &'a JobQuery) -> StoreFuture<'a, Vec<Job>> {
        ready(self.jobs_now(query))
    }

    fn cancel(&self, job: i64) -> StoreFuture<'_, Option<Cancelled>> {
        let now = self.now_micros();
        let mut rows = self.rows();
        let found = rows.jobs.get_mut(&job).filter(|job| job.task != LEASES);
        let cancelled = found.map(|job| match job.state {
            _ if job.is_standing() => Cancelled::Standing,
            JobState::Ready => {
                cancel(job, now);
                Cancelled::Now
            }
            JobState::Running => {
                job.cancelled_at.get_or_insert(now);
                Cancelled::Soon
            }
            _ => Cancelled::AlreadyEnded,
        });
        ready(cancelled)
    }

    fn retry(&self, job: i64) -> StoreFuture<'_, Option<Retried>> {
        let now = self.now_micros();
        let mut rows = self.rows();
        let Some(stored) = visible(&rows, job) else {
            return ready(None);
        };
        let holder = stored.unique_key.as_deref();
        let holder = holder.and_then(|key| rows.holder(&stored.task, key));
        let Some(stored) = rows.jobs.get_mut(&job) else {
            return ready(None);
        };
        let retried = match (stored.state, holder.filter(|holder| *holder != job)) {
            (JobState::Running, _) => Retried::AlreadyRunning,
            (JobState::Ready, _)
                if stored.parked.is_some() || stored.due_at.is_some_and(|due| due <= now) =>
            {
                Retried::AlreadyQueued
            }
            (_, Some(holder)) => Retried::KeyTaken(holder),
            (state, None) => {
                if state != JobState::Ready {
                    (stored.attempt, stored.crashes, stored.refusals) = (0, 0, 0);
                }
                stored.state = JobState::Ready;
                stored.due_at = Some(now.max(stored.hold_until.unwrap_or(now)));
                stored.cancelled_at = None;
                stored.prune_at = None;
                Retried::Queued
            }
        };
        drop(rows);
        self.announce();
        ready(Some(retried))
    }

    fn pause<'a>(&'a self, what: &'a Pausable, pause: bool) -> StoreFuture<'a, bool> {
        let mut rows = self.rows();
        let changed = if pause {
            rows.paused.insert(what.clone())
        } else {
            rows.paused.remove(what)
        };
        drop(rows);
        self.announce();
        ready(changed)
    }

    fn paused(&self) -> StoreFuture<'_, Vec<Pausable>> {
        ready(self.rows().paused.iter().cloned().collect())
    }
}
