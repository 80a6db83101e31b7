//! How runs end.

use std::sync::Arc;
use std::time::Duration;

use super::Memory;
use super::rows::Stored;
use crate::lease::{Anchor, LeaseKey};
use crate::store::{Finish, JobState, LEASES};
use crate::task::{Counts, Next, Then, micros};

/// How long a job stays that was cancelled by hand.
pub(super) const CANCELLED_KEEP: Duration = Duration::from_secs(24 * 60 * 60);

impl Memory {
    pub(super) fn finish_now(&self, ends: &[Finish]) -> Vec<i64> {
        let now = self.now_micros();
        let mut rows = self.rows();
        let mut finished = Vec::new();
        for end in ends {
            let Some(job) = rows.held_by(&end.key) else {
                continue;
            };
            end_run(job, end, now);
            if end.then == Then::Done(None) && end.hold.is_none() {
                rows.jobs.remove(&end.key.job);
            }
            finished.push(end.key.job);
        }
        drop(rows);
        let resources = ends.iter().filter_map(|end| end.resource.clone());
        let resources: Vec<LeaseKey> = resources.collect();
        if !resources.is_empty() {
            finished.extend(self.release_now(&resources));
        }
        if ends.iter().any(|end| end.frees_place) {
            self.announce();
        }
        finished
    }

    pub(super) fn release_now(&self, keys: &[LeaseKey]) -> Vec<i64> {
        let now = self.now_micros();
        let mut rows = self.rows();
        let mut released = Vec::new();
        for key in keys {
            let Some(job) = rows.held_by(key) else {
                continue;
            };
            job.lease = None;
            job.worker = None;
            job.attempt = job.attempt.saturating_sub(1);
            job.state = JobState::Ready;
            if job.task == LEASES {
                job.prune_at = Some(now.saturating_add(micros(CANCELLED_KEEP)));
            } else if job.to_cancel() {
                cancel(job, now);
            }
            released.push(key.job);
        }
        rows.unpark(now);
        drop(rows);
        self.announce();
        released
    }
}

impl Memory {
    /// Memory has no transactions. In a test those of any database are committed while the lease is held
    /// here, and the job ends after the commit; else they are refused.
    #[cfg_attr(not(any(test, feature = "testing")), expect(unused_variables))]
    pub(super) fn anchor_of(&self, end: Finish) -> Arc<Anchor> {
        #[cfg(any(test, feature = "testing"))]
        if self.clock.is_some() {
            let (held, ended, key) = (self.clone(), self.clone(), end.key.clone());
            return Arc::new(crate::lease::Unguarded::new(
                move || held.rows().held_by(&key).is_some(),
                move || {
                    ended.finish_now(std::slice::from_ref(&end));
                },
            ));
        }
        Arc::new(())
    }
}

/// A job that does not run is cancelled.
pub(super) fn cancel(job: &mut Stored, now: i64) {
    job.state = JobState::Cancelled;
    if let Some(parked) = job.parked.take() {
        job.due_at = Some(parked.due);
    }
    job.cancelled_at.get_or_insert(now);
    job.finished_at = Some(now);
    job.last_outcome = Some("cancelled".into());
    let prune_at = now.saturating_add(micros(CANCELLED_KEEP));
    job.prune_at = Some(prune_at.max(job.hold_until.unwrap_or(prune_at)));
}

fn end_run(job: &mut Stored, end: &Finish, now: i64) {
    let hold = end.hold.zip(job.claimed_at);
    let hold = hold.map(|(hold, claimed_at)| claimed_at.saturating_add(micros(hold)));
    let later = |delay: Duration| now.saturating_add(micros(delay));
    let mut keep = None;
    job.lease = None;
    job.worker = None;
    job.finished_at = Some(now);
    job.last_outcome = Some(end.outcome.to_owned());
    job.last_error.clone_from(&end.error);
    job.missed = job.missed.saturating_add(end.passed.missed.into());
    job.skipped = job.skipped.saturating_add(end.passed.skipped.into());
    job.hold_until = hold.filter(|at| *at > now);
    job.state = JobState::Ready;
    match end.then {
        Then::Slot(next) => {
            let follows = job.follows.take();
            let is_later = |next: &Next| match next {
                Next::At { slot, .. } => job.slot_at.is_none_or(|before| *slot > before),
                _ => true,
            };
            let changed = follows
                .filter(|_| follows != end.passed.follows)
                .filter(is_later);
            let (slot, due) = match changed.unwrap_or(next) {
                Next::At { slot, due } => (Some(slot), Some(due)),
                Next::In(delay) => (Some(later(delay)), Some(later(delay))),
                Next::Dormant => (None, None),
            };
            let again = std::mem::take(&mut job.again);
            let due = if again {
                Some(due.map_or(now, |due| due.min(now)))
            } else {
                due
            };
            job.slot_at = slot;
            job.begun_at = None;
            job.due_at = due.map(|due| due.max(hold.unwrap_or(i64::MIN)));
            (job.attempt, job.crashes, job.refusals) = (0, 0, 0);
        }
        Then::Again(delay, counts) => {
            job.due_at = Some(later(delay).max(hold.unwrap_or(i64::MIN)));
            job.slot_at = end.passed.slot.or(job.slot_at);
            if counts != Counts::Attempt {
                job.attempt = job.attempt.saturating_sub(1);
            }
            job.refusals += u32::from(counts == Counts::Refusal);
            if job.to_cancel() {
                job.state = JobState::Cancelled;
                keep = Some(CANCELLED_KEEP);
            }
        }
        Then::Done(kept) => {
            job.state = JobState::Done;
            keep = Some(kept.unwrap_or_default());
        }
        Then::Dead(kept) => {
            job.state = JobState::Dead;
            keep = Some(kept);
        }
        Then::Cancelled(kept) => {
            job.state = JobState::Cancelled;
            keep = Some(kept);
        }
    }
    if job.task == LEASES {
        keep = Some(CANCELLED_KEEP);
    }
    job.prune_at = keep.map(|keep| later(keep).max(hold.unwrap_or(i64::MIN)));
}
