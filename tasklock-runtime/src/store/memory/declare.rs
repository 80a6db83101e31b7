//! What a start makes of the standing jobs.

use super::Memory;
use super::rows::{Parked, Rows, Stored};
use crate::store::Declaration;
use crate::store::declaring::{Standing, first};

impl Memory {
    pub(super) fn declare_now(&self, declarations: &[Declaration]) {
        let now = self.now_micros();
        let mut rows = self.rows();
        for declared in declarations {
            for former in &declared.aliases {
                rename(&mut rows, former, &declared.task);
            }
            match rows.standing(&declared.task) {
                Some((_, job)) => {
                    if let Some(new) = standing(job).declared(declared, now) {
                        write(job, new);
                    }
                }
                None => {
                    let mut job = Stored::new(&declared.task, now);
                    job.unique_key = Some(String::new());
                    job.schedule = Some(declared.schedule.clone());
                    (job.slot_at, job.due_at) = first(declared, now);
                    job.resource.clone_from(&declared.resource);
                    job.versions.clone_from(&declared.version);
                    rows.insert(job);
                }
            }
        }
        drop(rows);
        self.announce();
    }
}

/// The row itself, whoever runs it; or, where there is one of the present name, away with it.
fn rename(rows: &mut Rows, former: &str, name: &str) {
    let is_taken = rows.standing(name).is_some();
    let Some((id, job)) = rows.standing(former) else {
        return;
    };
    if !is_taken {
        name.clone_into(&mut job.task);
    } else if job.lease.is_none() {
        rows.jobs.remove(&id);
    }
}

fn standing(job: &Stored) -> Standing {
    Standing {
        running: job.lease.is_some(),
        schedule: job.schedule.clone(),
        resource: job.resource.clone(),
        due_at: job.due_at.or(job.parked.as_ref().map(|parked| parked.due)),
        slot_at: job.slot_at,
        parked: job.parked.is_some(),
        attempt: job.attempt,
        hold_until: job.hold_until,
        follows: job.follows,
        versions: job.versions.clone(),
    }
}

fn write(job: &mut Stored, new: Standing) {
    job.parked = job.parked.take().filter(|_: &Parked| new.parked);
    if job.parked.is_none() {
        job.due_at = new.due_at;
    }
    job.schedule = new.schedule;
    job.resource = new.resource;
    job.slot_at = new.slot_at;
    job.follows = new.follows;
    job.versions = new.versions;
}
