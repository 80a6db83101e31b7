//! Jobs that need a second lease, on a name.

use std::collections::{BTreeMap, BTreeSet};

use super::end::cancel;
use super::named::{acquire, is_taken};
use super::rows::{Parked, Rows};
use crate::lease::OwnerToken;
use crate::store::{Acquire, Acquired, JobState, LEASES, Resource};

impl Rows {
    /// Acquires the resource that a job needs. `before` has lost the run that is taken over, and with it both of its
    /// leases.
    pub(super) fn equip(
        &mut self,
        wanted: &Acquire,
        before: Option<&OwnerToken>,
        now: i64,
    ) -> Option<Resource> {
        let row = self.holder(LEASES, &wanted.name);
        if let Some(lease) = row.and_then(|id| self.jobs.get_mut(&id))
            && before.is_some()
            && lease.lease.as_ref().map(|held| &held.owner) == before
        {
            lease.lease = None;
        }
        match acquire(self, wanted, now) {
            Acquired::Granted(key) => Some(Resource {
                name: wanted.name.clone(),
                key,
            }),
            Acquired::Held(_) => None,
        }
    }

    /// Puts a job aside until its resource is free.
    pub(super) fn park(&mut self, id: i64, now: i64) {
        let Some(job) = self.jobs.get_mut(&id) else {
            return;
        };
        let due = job.due_at.take().unwrap_or(now);
        job.lease = None;
        job.worker = None;
        job.state = JobState::Ready;
        job.attempt = job.attempt.saturating_sub(1);
        if job.to_cancel() {
            job.due_at = Some(due);
            cancel(job, now);
            return;
        }
        job.parked = Some(Parked {
            due,
            rank: due - i64::from(job.priority) * 1_000_000,
        });
    }

    /// Of each resource that nobody holds: the first parked job of each task falls due again, unless one is due already.
    pub(super) fn unpark(&mut self, now: i64) {
        let mut due: BTreeSet<(String, String)> = BTreeSet::new();
        let mut first: BTreeMap<(String, String), (i64, i64)> = BTreeMap::new();
        for (id, job) in &self.jobs {
            let (JobState::Ready, Some(name)) = (job.state, &job.resource) else {
                continue;
            };
            let place = (name.clone(), job.task.clone());
            if job.due_at.is_some_and(|due| due <= now) {
                due.insert(place);
            } else if let Some(parked) = &job.parked {
                let rank = (parked.rank, *id);
                let least = first.entry(place).or_insert(rank);
                *least = rank.min(*least);
            }
        }
        for (place, (_, id)) in first {
            if due.contains(&place) || is_taken(self, &place.0, now) {
                continue;
            }
            if let Some(job) = self.jobs.get_mut(&id)
                && let Some(parked) = job.parked.take()
            {
                job.due_at = Some(parked.due);
            }
        }
    }
}
