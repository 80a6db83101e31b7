//! What a start makes of the standing jobs.

use super::Memory;
use super::rows::{Parked, Rows, Stored};
use crate::store::declaring::{ALIAS_LASTS, Standing, first};
use crate::store::{Declaration, Pausable};
use crate::task::micros;

impl Memory {
    pub(super) fn declare_now(&self, declarations: &[Declaration]) -> bool {
        let now = self.now_micros();
        let mut rows = self.rows();
        let mut is_late = false;
        for declared in declarations {
            if is_elsewhere(&rows, declared, now) {
                continue;
            }
            if let Some((newer, _)) = rows.aliases.remove(&declared.task) {
                rename(&mut rows, &newer, &declared.task);
                rename_jobs(&mut rows, &newer, &declared.task);
            }
            for former in &declared.aliases {
                alias(&mut rows, former, &declared.task, now);
            }
            if !declared.standing {
                continue;
            }
            match rows.standing(&declared.task) {
                Some((_, job)) if standing(job).is_late(declared, now) => is_late = true,
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
        !is_late
    }
}

impl Memory {
    pub(super) fn tend_now(&self, declarations: &[Declaration]) -> Vec<String> {
        let now = self.now_micros();
        let mut rows = self.rows();
        let mut missing = Vec::new();
        for declared in declarations {
            let is_elsewhere = is_elsewhere(&rows, declared, now);
            for former in declared.aliases.iter().filter(|_| !is_elsewhere) {
                alias(&mut rows, former, &declared.task, now);
                rename_jobs(&mut rows, former, &declared.task);
            }
            let is_missing = declared.standing && rows.standing(&declared.task).is_none();
            if is_missing && rows.present(&declared.task, now) == declared.task {
                missing.push(declared.task.clone());
            }
        }
        missing
    }
}

/// This name is a former one from now on, and so are those that were its own.
fn alias(rows: &mut Rows, former: &str, name: &str, now: i64) {
    let until = now.saturating_add(micros(ALIAS_LASTS));
    for (present, served) in rows.aliases.values_mut() {
        if *present == former || *present == name {
            name.clone_into(present);
            *served = until;
        }
    }
    rows.aliases
        .insert(former.to_owned(), (name.to_owned(), until));
    rename(rows, former, name);
}

/// Whether it is a former name, under a new one that somebody serves, which is not one of its own.
fn is_elsewhere(rows: &Rows, declared: &Declaration, now: i64) -> bool {
    let present = rows.present(&declared.task, now);
    present != declared.task && !declared.aliases.iter().any(|former| former == present)
}

/// Those that wait or run, but for those whose key is taken.
fn rename_jobs(rows: &mut Rows, former: &str, name: &str) {
    let waits = |job: &Stored| job.task == former && !job.state.is_ended();
    let ids: Vec<i64> = rows
        .jobs
        .iter()
        .filter(|(_, job)| waits(job))
        .map(|(id, _)| *id)
        .collect();
    for id in ids {
        let key = rows.jobs.get(&id).and_then(|job| job.unique_key.clone());
        let is_taken = key.is_some_and(|key| key.is_empty() || rows.holder(name, &key).is_some());
        if let Some(job) = rows.jobs.get_mut(&id).filter(|_| !is_taken) {
            name.clone_into(&mut job.task);
        }
    }
}

/// The row itself, whoever runs it; or, where there is one of the present name, away with it.
fn rename(rows: &mut Rows, former: &str, name: &str) {
    if rows.paused.remove(&Pausable::Task(former.to_owned())) {
        rows.paused.insert(Pausable::Task(name.to_owned()));
    }
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
        begun: job.begun_at.is_some(),
        again: job.again,
        moved: false,
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
    job.again = new.again;
    if new.moved {
        job.begun_at = None;
        (job.attempt, job.crashes, job.refusals) = (0, 0, 0);
    }
}
