//! What a start makes of a task's standing job that is there already: the rule, for every store.
//!
//! Versions that differ in a task's schedule may run beside each other for a while. The row says which schedule counts: the
//! one of the version that **started last**. Whoever ends a run goes by the row's (`run/facts.rs`), so it does not change to
//! and fro with who happens to run it; a claim changes none of this.
//!
//! - A job that waits for a slot to come goes over to the new schedule: its next slot, never at once. A slot that has come (it was
//!   missed while the new version was deployed), or has been begun and is to be tried again, stays, unless that is put off beyond
//!   the first slot of the new schedule; and so does an extra run that somebody has asked for. Where the new version has no
//!   schedule, a slot is dropped; what was asked for is not. Other slots of the old schedule that have passed are not made up for.
//! - A slot that stays is one of another schedule than the row's from then on. The row says what **follows** it (`next_at`, `next_in`):
//!   the first slot of the new schedule after this start. Whoever claims it goes by that.
//! - The row of a run that is under way is its owner's. A start writes the schedule and what follows, and nothing else. The
//!   owner's end says what was there at its claim; where that is not what stands there by then, the row's counts, and what the owner
//!   would have come next does not. Where the run is given back, or taken over, it stays.
//! - A task that was renamed has one row all the time: the first that knows the new name writes it into the row, whoever runs it
//!   just then. That an old name is a former one is noted in a table of its own, for as long as somebody serves the new one
//!   ([`ALIAS_LASTS`], kept ahead each minute). Till then a start of a version that has the old name alone makes no row of it, and a
//!   trigger of it goes to the new one. After that it takes the row back: somebody has gone back to the old version. Jobs that are enqueued
//!   under the old name are given the new one, too, whoever runs them; and the old one, when the row is taken back. Starts exclude each other (Postgres: by a
//!   lock on that table), so that none makes a row of a name that another one has just made a former one.
//! - A version that is to run once (`on_start`) makes the job due, as a trigger does, while a run is under way once that has ended
//!   (`again`); and it is remembered, with the seven before.

use std::time::Duration;

use crate::store::Declaration;
use crate::task::{Next, micros};

/// How long a former name is known as one after somebody who serves the new one has said so.
pub(super) const ALIAS_LASTS: Duration = Duration::from_secs(300);
/// With less left it is said again: each worker looks once in 30 to 90 s, and may fail two times.
#[cfg(database)]
pub(super) const ALIAS_AGAIN: Duration = Duration::from_secs(270);
/// How many jobs are renamed by a statement, and by how many statements before others get their turn.
#[cfg(database)]
pub(super) const RENAMED: i64 = 500;
#[cfg(database)]
pub(super) const RENAMINGS: usize = 20;

/// How many versions are remembered: one that comes back, because the latest was no good, is not new.
const REMEMBERED: usize = 8;

/// What a start reads and writes of a standing job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) running: bool,
    pub(super) schedule: Option<String>,
    pub(super) resource: Option<String>,
    /// When it is due, or was before it was parked.
    pub(super) due_at: Option<i64>,
    pub(super) slot_at: Option<i64>,
    pub(super) parked: bool,
    /// Whether the slot was claimed before.
    pub(super) begun: bool,
    pub(super) attempt: u32,
    pub(super) hold_until: Option<i64>,
    /// What follows the slot, where that is one of another schedule.
    pub(super) follows: Option<Next>,
    /// Whether it falls due once more at the end of the run that is under way.
    pub(super) again: bool,
    /// Whether it is another slot than before, of which nothing has been done.
    pub(super) moved: bool,
    /// One a line.
    pub(super) versions: Option<String>,
}

impl Standing {
    /// Whether a slot that was to be the next one has come since that was found out: it may have been run by now.
    pub(super) fn is_late(&self, declared: &Declaration, now: i64) -> bool {
        let has_come = match declared.if_changed {
            Next::At { slot, .. } => (declared.asked_at.saturating_add(1)..=now).contains(&slot),
            Next::In(_) | Next::Dormant => false,
        };
        has_come && !declared.restores && self.schedule.as_ref() != Some(&declared.schedule)
    }

    /// What it becomes; `None` if it is as it should be.
    pub(super) fn declared(&self, declared: &Declaration, now: i64) -> Option<Self> {
        if declared.restores {
            return None;
        }
        let mut new = self.clone();
        new.take_schedule(declared, now);
        if !self.running && new.resource != declared.resource {
            new.resource.clone_from(&declared.resource);
            new.parked = false;
        }
        if let Some(version) = &declared.version {
            new.start(version, now);
        }
        (new != *self).then_some(new)
    }

    fn take_schedule(&mut self, declared: &Declaration, now: i64) {
        if self.schedule.as_ref() == Some(&declared.schedule) {
            return;
        }
        self.schedule = Some(declared.schedule.clone());
        if self.running || self.is_to_be_kept(declared, now) {
            self.follows = Some(declared.if_changed);
            return;
        }
        let is_extra = self.is_extra();
        let (slot, due) = instants(declared.if_changed, now);
        let comes_first = self.comes_before(due, now);
        self.follows = None;
        self.slot_at = slot;
        if is_extra && comes_first {
            return;
        }
        self.parked = false;
        (self.moved, self.begun, self.attempt) = (true, false, 0);
        self.due_at = due.map(|due| self.held(due));
    }

    /// Somebody has asked for it: it is due, and before its slot.
    fn is_extra(&self) -> bool {
        let before = |due: i64| self.slot_at.is_none_or(|slot| due < slot);
        self.due_at.is_some_and(before)
    }

    /// A slot that has come, or been begun.
    fn is_to_be_kept(&self, declared: &Declaration, now: i64) -> bool {
        let (Some(slot), Some(due)) = (self.slot_at, self.due_at) else {
            return false;
        };
        let is_one = due >= slot && declared.if_changed != Next::Dormant;
        let next = instants(declared.if_changed, now).1;
        is_one && (slot <= now || self.attempt > 0 || self.begun) && self.comes_before(next, now)
    }

    /// Whether it is due, or will be before this.
    fn comes_before(&self, next: Option<i64>, now: i64) -> bool {
        let before = |due: i64| due <= now || next.is_none_or(|next| due <= next);
        self.due_at.is_some_and(before)
    }

    fn start(&mut self, version: &str, now: i64) {
        let before = self.versions.as_deref().unwrap_or_default();
        if before.lines().any(|known| known == version) {
            return;
        }
        let mut versions: Vec<&str> = before.lines().chain([version]).collect();
        versions.drain(..versions.len().saturating_sub(REMEMBERED));
        self.versions = Some(versions.join("\n"));
        if self.running {
            self.again = true;
        } else {
            let now = self.held(now);
            self.due_at = Some(self.due_at.map_or(now, |due| due.min(now)));
        }
    }

    fn held(&self, due: i64) -> i64 {
        self.hold_until.map_or(due, |until| due.max(until))
    }
}

/// The slot and the due time of a task that is declared for the first time.
pub(super) fn first(declared: &Declaration, now: i64) -> (Option<i64>, Option<i64>) {
    let (slot, due) = instants(declared.if_new, now);
    let starts = declared.version.is_some();
    (slot, if starts { Some(now) } else { due })
}

fn instants(next: Next, now: i64) -> (Option<i64>, Option<i64>) {
    match next {
        Next::At { slot, due } => (Some(slot), Some(due)),
        Next::In(delay) => {
            let due = now.saturating_add(micros(delay));
            (Some(due), Some(due))
        }
        Next::Dormant => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_000;

    fn waiting(due: i64) -> Standing {
        Standing {
            running: false,
            schedule: Some("every 1m".into()),
            resource: None,
            due_at: Some(due),
            slot_at: Some(due),
            parked: false,
            attempt: 0,
            hold_until: None,
            begun: false,
            follows: None,
            again: false,
            moved: false,
            versions: None,
        }
    }

    fn hourly() -> Declaration {
        Declaration::new("task", "every 1h", Next::at(5_000))
    }

    fn off() -> Declaration {
        Declaration::new("task", "on demand", Next::Dormant)
    }

    #[test]
    fn what_waits_goes_over_and_what_is_due_stays() {
        let moved = |row: &Standing, to: &Declaration| {
            let new = row.declared(to, NOW).expect("its schedule has changed");
            (new.slot_at, new.due_at, new.follows)
        };
        let next = Some(Next::at(5_000));
        assert_eq!(
            moved(&waiting(2_000), &hourly()),
            (Some(5_000), Some(5_000), None)
        );
        assert_eq!(
            moved(&waiting(900), &hourly()),
            (Some(900), Some(900), next)
        );
        let again = Standing {
            attempt: 1,
            due_at: Some(2_500),
            ..waiting(900)
        };
        assert_eq!(moved(&again, &hourly()), (Some(900), Some(2_500), next));
        let spread = Standing {
            due_at: Some(1_100),
            ..waiting(990)
        };
        assert_eq!(moved(&spread, &hourly()), (Some(990), Some(1_100), next));
        let triggered = Standing {
            due_at: Some(900),
            ..waiting(2_000)
        };
        assert_eq!(moved(&triggered, &hourly()), (Some(5_000), Some(900), None));
        // Without a schedule a slot that was missed is none any more; what was asked for still is.
        assert_eq!(moved(&waiting(900), &off()), (None, None, None));
        assert_eq!(moved(&again, &off()), (None, None, None));
        assert_eq!(moved(&triggered, &off()), (None, Some(900), None));
        let held = Standing {
            hold_until: Some(6_000),
            ..waiting(2_000)
        };
        assert_eq!(moved(&held, &hourly()), (Some(5_000), Some(6_000), None));
        // One schedule after the other: the last one counts.
        let kept = waiting(900)
            .declared(&hourly(), NOW)
            .expect("it has changed");
        let back = Declaration::new("task", "every 1m", Next::at(1_060));
        assert_eq!(
            moved(&kept, &back),
            (Some(900), Some(900), Some(Next::at(1_060)))
        );
        let gone = kept.declared(&off(), NOW).expect("it has changed");
        assert_eq!(moved(&gone, &back), (Some(1_060), Some(1_060), None));
        assert!(gone.moved);
    }

    #[test]
    fn a_run_under_way_is_left_alone_but_for_what_follows_it() {
        let running = Standing {
            running: true,
            attempt: 1,
            ..waiting(900)
        };
        let new = running.declared(&hourly(), NOW);
        let expected = Standing {
            schedule: Some("every 1h".into()),
            follows: Some(Next::at(5_000)),
            ..running
        };
        assert_eq!(new.as_ref(), Some(&expected));
        assert_eq!(expected.declared(&hourly(), NOW), None, "and only once");
    }

    #[test]
    fn each_version_starts_once() {
        let version = |version: &str| Declaration {
            version: Some(version.into()),
            schedule: "every 1m".into(),
            ..hourly()
        };
        let mut row = waiting(2_000);
        for nth in 0..9 {
            row.due_at = Some(2_000);
            row = row
                .declared(&version(&format!("v{nth}")), NOW)
                .expect("it is new");
            assert_eq!((row.slot_at, row.due_at), (Some(2_000), Some(NOW)));
        }
        assert_eq!(row.declared(&version("v8"), NOW), None);
        assert_eq!(
            row.declared(&version("v1"), NOW),
            None,
            "an old one that is rolled back to"
        );
        assert!(
            row.declared(&version("v0"), NOW).is_some(),
            "so many are remembered"
        );
        let running = Standing {
            running: true,
            ..waiting(900)
        };
        let new = running.declared(&version("v1"), NOW).expect("it is new");
        assert_eq!(
            (new.due_at, new.follows, new.again),
            (Some(900), None, true)
        );
    }
}
