//! The rows, and what they are when read.

use std::collections::BTreeMap;

use super::Memory;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::{JobRow, between};

#[derive(Default)]
pub(super) struct Rows {
    pub(super) jobs: BTreeMap<i64, Job>,
    pub(super) last_id: i64,
}

pub(super) struct Job {
    pub(super) task: String,
    pub(super) schedule: String,
    pub(super) due_at: Option<i64>,
    pub(super) lease: Option<Held>,
    pub(super) fence: i64,
    pub(super) attempt: u32,
    pub(super) crashes: u32,
    pub(super) last_outcome: Option<String>,
    pub(super) last_error: Option<String>,
}

pub(super) struct Held {
    pub(super) owner: OwnerToken,
    pub(super) until: i64,
}

impl Rows {
    pub(super) fn held_by(&mut self, key: &LeaseKey) -> Option<&mut Job> {
        let job = self.jobs.get_mut(&key.job)?;
        let owner = &job.lease.as_ref()?.owner;
        (*owner == key.owner && job.fence == key.fence).then_some(job)
    }
}

impl Job {
    pub(super) fn row(&self, id: i64) -> JobRow {
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
