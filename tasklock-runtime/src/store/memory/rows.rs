//! The rows, and what they are when read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::lease::{LeaseKey, OwnerToken, Progress};
use crate::store::{Job, JobRow, JobState, Pausable, between, timestamp};
use crate::task::Next;

#[derive(Default)]
pub(super) struct Rows {
    pub(super) jobs: BTreeMap<i64, Stored>,
    pub(super) last_id: i64,
    pub(super) last_lease_fence: i64,
    pub(super) paused: BTreeSet<Pausable>,
    /// Former names: the present one of each, and until when it is served.
    pub(super) aliases: BTreeMap<String, (String, i64)>,
    /// In the order in which they came.
    pub(super) waiters: Vec<Waiter>,
}

/// Who waits for a named lease.
pub(super) struct Waiter {
    pub(super) name: String,
    pub(super) ticket: OwnerToken,
    pub(super) alive_until: i64,
}

pub(super) struct Stored {
    pub(super) task: String,
    pub(super) state: JobState,
    pub(super) schedule: Option<String>,
    pub(super) unique_key: Option<String>,
    pub(super) payload: Option<Arc<str>>,
    pub(super) priority: i16,
    pub(super) due_at: Option<i64>,
    pub(super) slot_at: Option<i64>,
    pub(super) missed: u64,
    pub(super) skipped: u64,
    pub(super) begun_at: Option<i64>,
    /// What follows a slot of another schedule.
    pub(super) follows: Option<Next>,
    pub(super) again: bool,
    pub(super) versions: Option<String>,
    pub(super) resource: Option<String>,
    pub(super) parked: Option<Parked>,
    pub(super) lease: Option<Held>,
    pub(super) worker: Option<String>,
    pub(super) fence: i64,
    pub(super) attempt: u32,
    pub(super) crashes: u32,
    pub(super) refusals: u32,
    pub(super) hold_until: Option<i64>,
    pub(super) cancelled_at: Option<i64>,
    pub(super) created_at: i64,
    pub(super) claimed_at: Option<i64>,
    pub(super) finished_at: Option<i64>,
    pub(super) prune_at: Option<i64>,
    pub(super) last_outcome: Option<String>,
    pub(super) last_error: Option<String>,
}

/// A job that waits for its resource: it is not due, but was then.
pub(super) struct Parked {
    pub(super) due: i64,
    pub(super) rank: i64,
}

pub(super) struct Held {
    pub(super) owner: OwnerToken,
    pub(super) until: i64,
    pub(super) progress: Option<Progress>,
}

impl Rows {
    pub(super) fn insert(&mut self, job: Stored) -> i64 {
        self.last_id += 1;
        self.jobs.insert(self.last_id, job);
        self.last_id
    }

    pub(super) fn held_by(&mut self, key: &LeaseKey) -> Option<&mut Stored> {
        let job = self.jobs.get_mut(&key.job)?;
        let owner = &job.lease.as_ref()?.owner;
        (*owner == key.owner && job.fence == key.fence).then_some(job)
    }

    /// The standing job of a task.
    pub(super) fn standing(&mut self, task: &str) -> Option<(i64, &mut Stored)> {
        let is_it = |job: &Stored| job.task == task && job.is_standing();
        let found = self.jobs.iter_mut().find(|(_, job)| is_it(job));
        found.map(|(id, job)| (*id, job))
    }

    /// The present name of a task, where this one is a former one.
    pub(super) fn present<'a>(&'a self, task: &'a str, now: i64) -> &'a str {
        match self.aliases.get(task) {
            Some((present, until)) if *until > now => present,
            _ => task,
        }
    }

    /// The job of a task that waits or runs under this key.
    pub(super) fn holder(&self, task: &str, key: &str) -> Option<i64> {
        let is_it = |job: &Stored| {
            !job.state.is_ended() && job.task == task && job.unique_key.as_deref() == Some(key)
        };
        self.jobs
            .iter()
            .find(|(_, job)| is_it(job))
            .map(|(id, _)| *id)
    }
}

impl Stored {
    /// A job that waits.
    pub(super) fn new(task: &str, now: i64) -> Self {
        Self {
            task: task.to_owned(),
            state: JobState::Ready,
            schedule: None,
            unique_key: None,
            payload: None,
            priority: 0,
            due_at: None,
            slot_at: None,
            missed: 0,
            skipped: 0,
            begun_at: None,
            follows: None,
            again: false,
            versions: None,
            resource: None,
            parked: None,
            lease: None,
            worker: None,
            fence: 0,
            attempt: 0,
            crashes: 0,
            refusals: 0,
            hold_until: None,
            cancelled_at: None,
            created_at: now,
            claimed_at: None,
            finished_at: None,
            prune_at: None,
            last_outcome: None,
            last_error: None,
        }
    }

    /// The key of no job that was enqueued.
    pub(super) fn is_standing(&self) -> bool {
        self.unique_key.as_deref() == Some("")
    }

    pub(super) fn to_cancel(&self) -> bool {
        self.cancelled_at.is_some() && !self.is_standing()
    }

    pub(super) fn row(&self, id: i64, now: i64) -> JobRow {
        JobRow {
            job: id,
            task: self.task.clone(),
            running: self.state == JobState::Running,
            owner: self.lease.as_ref().map(|held| held.owner.clone()),
            fence: self.fence,
            left: self.lease.as_ref().map(|held| between(now, held.until)),
            due_at: self.due_at,
            slot_at: self.slot_at,
            attempt: self.attempt,
            crashes: self.crashes,
            to_cancel: self.to_cancel(),
            last_outcome: self.last_outcome.clone(),
            last_error: self.last_error.clone(),
        }
    }

    pub(super) fn job(&self, id: i64) -> Job {
        let at = |micros: Option<i64>| micros.map(timestamp);
        Job {
            id,
            task: self.task.clone(),
            state: self.state,
            payload: self.payload.as_deref().map(str::to_owned),
            priority: self.priority,
            unique_key: self.unique_key.clone().filter(|key| !key.is_empty()),
            resource: self.resource.clone(),
            is_standing: self.is_standing(),
            due_at: at(self
                .due_at
                .or(self.parked.as_ref().map(|parked| parked.due))),
            slot_at: at(self.slot_at),
            schedule: self.schedule.clone(),
            missed: self.missed,
            skipped: self.skipped,
            attempt: self.attempt,
            crashes: self.crashes,
            refusals: self.refusals,
            fence: self.fence,
            worker: self.worker.clone(),
            lock_until: at(self.lease.as_ref().map(|held| held.until)),
            progress: self.lease.as_ref().and_then(|held| held.progress),
            claimed_at: at(self.claimed_at),
            finished_at: at(self.finished_at),
            created_at: at(Some(self.created_at)),
            cancelled_at: at(self.cancelled_at),
            last_outcome: self.last_outcome.clone(),
            last_error: self.last_error.clone(),
        }
    }
}
