//! Named leases.

use super::Memory;
use super::rows::{Held, Rows, Stored, Waiter};
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::{Acquire, Acquired, JobState, LEASES, PATIENCE, between};
use crate::task::micros;

impl Memory {
    pub(super) fn acquire_now(&self, wanted: &[Acquire]) -> Vec<Acquired> {
        let now = self.now_micros();
        let mut rows = self.rows();
        wanted
            .iter()
            .map(|wanted| acquire(&mut rows, wanted, now))
            .collect()
    }

    pub(super) fn leave_now(&self, ticket: &OwnerToken) {
        let now = self.now_micros();
        let mut rows = self.rows();
        rows.waiters.retain(|waiter| waiter.ticket != *ticket);
        rows.unpark(now);
        drop(rows);
        self.announce();
    }
}

pub(super) fn acquire(rows: &mut Rows, wanted: &Acquire, now: i64) -> Acquired {
    let held = held_until(rows, &wanted.name, now);
    rows.waiters.retain(|waiter| waiter.alive_until > now);
    let first = rows
        .waiters
        .iter()
        .find(|waiter| waiter.name == wanted.name);
    let ahead = first.filter(|first| Some(&first.ticket) != wanted.ticket.as_ref());
    if let Some(until) = held.or(ahead.map(|ahead| ahead.alive_until)) {
        if let Some(ticket) = &wanted.ticket {
            stand_in_line(rows, &wanted.name, ticket, now);
        }
        return Acquired::Held(between(now, until));
    }
    rows.waiters
        .retain(|waiter| Some(&waiter.ticket) != wanted.ticket.as_ref());
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
        progress: None,
    });
    Acquired::Granted(LeaseKey {
        job: id,
        fence: job.fence,
        owner: wanted.owner.clone(),
    })
}

fn stand_in_line(rows: &mut Rows, name: &str, ticket: &OwnerToken, now: i64) {
    let alive_until = now.saturating_add(micros(PATIENCE));
    let mut waiters = rows.waiters.iter_mut();
    match waiters.find(|waiter| waiter.ticket == *ticket) {
        Some(waiter) => waiter.alive_until = alive_until,
        None => rows.waiters.push(Waiter {
            name: name.to_owned(),
            ticket: ticket.clone(),
            alive_until,
        }),
    }
}

/// Until when the lease of this name is held.
fn held_until(rows: &Rows, name: &str, now: i64) -> Option<i64> {
    let row = rows.holder(LEASES, name).and_then(|id| rows.jobs.get(&id));
    let until = row.and_then(|row| row.lease.as_ref())?.until;
    (until >= now).then_some(until)
}

/// Whether somebody holds the lease of this name, or is first in the line for it.
pub(super) fn is_taken(rows: &Rows, name: &str, now: i64) -> bool {
    let is_awaited = |waiter: &Waiter| waiter.name == name && waiter.alive_until > now;
    held_until(rows, name, now).is_some() || rows.waiters.iter().any(is_awaited)
}
