//! How work is taken, and when there will be some.

use std::collections::HashMap;
use std::time::Duration;

use super::Memory;
use super::rows::{Held, Rows, Stored};
use crate::lease::LeaseKey;
use crate::store::{Acquire, Claim, ClaimBatch, ClaimRequest, JobState, Pausable, Wanted, between};
use crate::task::micros;

impl Memory {
    pub(super) fn claim_now(&self, request: &ClaimRequest) -> ClaimBatch {
        let now = self.now_micros();
        let mut rows = self.rows();
        rows.unpark(now);
        let wanted = wanted(&rows, request);
        let mut room = room(&rows, &wanted, now);

        // Whether it is due, not expired; its rank; its id.
        let mut takeable: Vec<(bool, i64, i64)> = rows
            .jobs
            .iter()
            .filter(|(_, job)| wanted.contains_key(&*job.task))
            .filter_map(|(id, job)| match (&job.lease, job.state) {
                (None, JobState::Ready) => {
                    let due = job.due_at.filter(|due| *due <= now)?;
                    Some((true, due - i64::from(job.priority) * 1_000_000, *id))
                }
                (Some(held), _) => (held.until < now).then_some((false, held.until, *id)),
                _ => None,
            })
            .collect();
        takeable.sort_unstable();
        takeable.retain(|(is_due, _, id)| {
            !is_due
                || rows
                    .jobs
                    .get(id)
                    .is_some_and(|job| take_place(&mut room, &job.task))
        });
        let mut suspects = request.suspects;
        takeable.retain(|(is_due, _, id)| {
            let suspect = |job: &Stored| {
                let from = wanted.get(&*job.task).map(|wanted| wanted.suspect_from);
                from.is_some_and(|from| job.crashes >= from)
            };
            if *is_due || !rows.jobs.get(id).is_some_and(suspect) {
                return true;
            }
            let taken = suspects > 0;
            suspects = suspects.saturating_sub(1);
            taken
        });
        let mut claims = Vec::new();
        let (mut parked, mut left_behind) = (false, false);
        for (is_due, _, id) in takeable {
            if claims.len() == request.limit {
                left_behind = true;
                break;
            }
            let Some(job) = rows.jobs.get_mut(&id) else {
                continue;
            };
            let ttl = wanted.get(&*job.task).map(|wanted| wanted.ttl);
            let ttl = ttl.unwrap_or_default();
            let before = job.lease.as_ref().map(|held| held.owner.clone());
            let name = job.resource.clone();
            let mut claim = take(job, id, !is_due, request, ttl, now);
            if let Some(name) = name {
                let needed = Acquire {
                    name,
                    owner: request.token.clone(),
                    worker: request.worker.clone(),
                    ttl,
                    ticket: None,
                };
                claim.resource = rows.equip(&needed, before.as_ref(), now);
                if claim.resource.is_none() {
                    rows.park(id, now);
                    parked = true;
                    continue;
                }
            }
            claims.push(claim);
        }
        ClaimBatch {
            now,
            claims,
            parked,
            wait: if left_behind {
                Some(Duration::ZERO)
            } else {
                next_event(&rows, &wanted, now).map(|at| between(now, at))
            },
        }
    }
}

/// What the request asks for and nobody has paused.
fn wanted<'a>(rows: &Rows, request: &'a ClaimRequest) -> HashMap<&'a str, &'a Wanted> {
    let is_paused = |wanted: &Wanted| {
        rows.paused.contains(&Pausable::Task(wanted.task.clone()))
            || rows.paused.contains(&Pausable::Queue(wanted.queue.clone()))
    };
    let asked = request.tasks.iter().filter(|wanted| !is_paused(wanted));
    asked.map(|wanted| (&*wanted.task, wanted)).collect()
}

/// How many more runs of each limited task may start.
fn room<'a>(rows: &Rows, wanted: &HashMap<&'a str, &'a Wanted>, now: i64) -> HashMap<&'a str, u32> {
    let in_place = |job: &Stored| job.lease.is_some() || job.hold_until.is_some_and(|at| at > now);
    let room = |wanted: &Wanted| {
        let of_task = rows.jobs.values().filter(|job| job.task == wanted.task);
        let taken = of_task.filter(|job| in_place(job)).count();
        let most = wanted.most?;
        Some(most.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX)))
    };
    let limited = wanted.iter();
    limited
        .filter_map(|(task, wanted)| Some((*task, room(wanted)?)))
        .collect()
}

fn take_place(room: &mut HashMap<&str, u32>, task: &str) -> bool {
    match room.get_mut(task) {
        Some(0) => false,
        Some(left) => {
            *left -= 1;
            true
        }
        None => true,
    }
}

fn take(
    job: &mut Stored,
    id: i64,
    takeover: bool,
    request: &ClaimRequest,
    ttl: Duration,
    now: i64,
) -> Claim {
    job.fence += 1;
    job.attempt += 1;
    job.crashes += u32::from(takeover);
    job.state = JobState::Running;
    job.claimed_at = Some(now);
    if job.is_standing() {
        job.begun_at.get_or_insert(now);
    }
    job.worker = Some(request.worker.clone());
    job.lease = Some(Held {
        owner: request.token.clone(),
        until: now.saturating_add(micros(ttl)),
        progress: None,
    });
    Claim {
        key: LeaseKey {
            job: id,
            fence: job.fence,
            owner: request.token.clone(),
        },
        task: job.task.clone(),
        due_at: job.due_at.unwrap_or(now),
        slot_at: job.slot_at,
        schedule: job.schedule.clone(),
        begun_at: job.begun_at,
        follows: job.follows,
        attempt: job.attempt,
        crashes: job.crashes,
        refusals: job.refusals,
        takeover,
        standing: job.is_standing(),
        to_cancel: job.to_cancel(),
        payload: job.payload.clone(),
        resource: None,
    }
}

/// The earliest due time, where the task has room; the end of a hold, where it has none; or an expiry.
fn next_event(rows: &Rows, wanted: &HashMap<&str, &Wanted>, now: i64) -> Option<i64> {
    let room = room(rows, wanted, now);
    let event = |job: &Stored| {
        let is_full = room.get(&*job.task) == Some(&0);
        match (&job.lease, job.state) {
            (Some(held), _) => Some(held.until),
            // Whoever holds its resource may have died: somebody has to look.
            (None, JobState::Ready) if job.parked.is_some() => Some(now + 1_000_000),
            (None, JobState::Ready) if !is_full => job.due_at,
            _ => job.hold_until.filter(|at| is_full && *at > now),
        }
    };
    let of_wanted = rows
        .jobs
        .values()
        .filter(|job| wanted.contains_key(&*job.task));
    of_wanted.filter_map(event).min()
}
