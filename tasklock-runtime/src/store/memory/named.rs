//! Named leases.

use super::Memory;
use super::rows::{Held, Rows, Stored};
use crate::lease::LeaseKey;
use crate::store::{Acquire, Acquired, JobState, LEASES, between};
use crate::task::micros;

impl Memory {
    pub(super) fn acquire_now(&self, wanted: &[Acquire]) -> Vec<Acquired> {
        let now = Self::now_micros();
        let mut rows = self.rows();
        wanted
            .iter()
            .map(|wanted| acquire(&mut rows, wanted, now))
            .collect()
    }
}

pub(super) fn acquire(rows: &mut Rows, wanted: &Acquire, now: i64) -> Acquired {
    let id = rows.holder(LEASES, &wanted.name).unwrap_or_else(|| {
        let mut free = Stored::new(LEASES, now);
        free.unique_key = Some(wanted.name.clone());
        rows.insert(free)
    });
    rows.last_lease_fence += 1;
    let next = rows.last_lease_fence;
    let Some(job) = rows.jobs.get_mut(&id) else {
        return Acquired::Held(std::time::Duration::ZERO);
    };
    if let Some(held) = &job.lease
        && held.until >= now
    {
        return Acquired::Held(between(now, held.until));
    }
    job.fence = next.max(job.fence + 1);
    job.state = JobState::Running;
    job.attempt = 1;
    job.claimed_at = Some(now);
    job.cancelled_at = None;
    job.prune_at = None;
    job.worker = Some(wanted.worker.clone());
    job.lease = Some(Held {
        owner: wanted.owner.clone(),
        until: now.saturating_add(micros(wanted.ttl)),
    });
    Acquired::Granted(LeaseKey {
        job: id,
        fence: job.fence,
        owner: wanted.owner.clone(),
    })
}

/// Whether somebody holds the lease of this name.
pub(super) fn is_held(rows: &Rows, name: &str, now: i64) -> bool {
    let row = rows.holder(LEASES, name).and_then(|id| rows.jobs.get(&id));
    let held = row.and_then(|row| row.lease.as_ref());
    held.is_some_and(|held| held.until >= now)
}
