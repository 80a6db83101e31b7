//! What becomes of a slot: when its run falls due, and what is done about slots for which nobody had time.
//!
//! A slot is **missed** where it passes before it is run: no worker was up, or the run of the slot before it lasted, or everybody
//! was busy. What is done then is the attribute's `missed`, decided when the slot is claimed, and when its run ends, by the
//! store's clock at the claim (`now`):
//!
//! | | at the claim | the slot after the run |
//! | --- | --- | --- |
//! | `once` | it is run, and stands for those which have passed since | the first that falls due after `now` |
//! | `skip` | it is skipped with all that have fallen due, if it is late by more than a minute, or by more than a second and the next one has fallen due | the first that falls due after `now` |
//! | `all` | it is run, unless more than `max_missed` slots wait: then the oldest are skipped, and the first of the others is run | the next one, also if it has passed |
//!
//! Whatever the policy, slots that fell due longer than `catch_up` ago are skipped, and the first that is young enough is run, if there
//! is one. `now` is the time of the *first* claim of the slot, which the row keeps: what was claimed in time is tried to its end, whatever
//! comes between, and what was not is skipped, whoever claims it again. An extra run is never skipped.
//!
//! Where a later slot is to be run that has come already, the claim is ended by writing that into the row, and the next claim
//! runs it, judged as this one was. So a store that is slow cannot starve a task.
//!
//! Where the schedule was changed while a slot was due, the slot is still run, or skipped, as one. It is followed by what the
//! row says that follows, which is the first slot of the new schedule since then.
//!
//! Slots without a run of their own are counted: as *missed* where another run stood for them, as *skipped* where none did.

use std::time::Duration;

use super::counting::MOST_COUNTED;
use super::jitter::fnv;
use super::{Claimed, Fate, Next, Schedule, ScheduleError, micros};

/// How late a slot may be claimed under `skip`, where the next one has not fallen due before: workers that are restarted one by
/// one take less.
const LATE: i64 = 60_000_000;
/// And how late where it has: what takes a claim so long is no absence.
const SOON: i64 = 1_000_000;
/// The attribute's `missed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missed {
    /// One run stands for all slots that were missed.
    #[default]
    Once,
    /// They are not run.
    Skip,
    /// Each is run, the newest of them at least.
    All,
}

/// A task's schedule, and what it says of its slots.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(super) schedule: Schedule,
    /// As it is stored.
    pub(super) text: String,
    pub(super) jitter: Duration,
    missed: Missed,
    /// How many are run under `all`.
    most: u32,
    catch_up: Option<Duration>,
    /// The task's own share in the jitter.
    pub(super) seed: u64,
    /// Whether the task has a standing job in this program.
    declared: bool,
}

impl Plan {
    pub(crate) fn new(task: &str, schedule: Schedule) -> Self {
        Self {
            text: schedule.to_string(),
            schedule,
            jitter: Duration::ZERO,
            missed: Missed::Once,
            most: 1,
            catch_up: None,
            seed: fnv(task.bytes()),
            declared: true,
        }
    }

    pub(crate) fn spread(self, jitter: Duration) -> Self {
        Self { jitter, ..self }
    }

    pub(crate) fn missing(self, missed: Missed, most: u32, catch_up: Option<Duration>) -> Self {
        Self {
            missed,
            most,
            catch_up,
            ..self
        }
    }

    /// Of a task that needs a payload, and has no standing job but one that an older version has left.
    pub(crate) fn undeclared(self) -> Self {
        Self {
            declared: false,
            ..self
        }
    }

    /// Whether the schedule in the store is one that this program may have said.
    pub(crate) fn is_declared(&self) -> bool {
        self.declared
    }

    /// As it is stored.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether anything ever happens by itself.
    pub(crate) fn is_scheduled(&self) -> bool {
        !matches!(self.schedule, Schedule::OnDemand)
    }

    /// The same under another schedule.
    pub(crate) fn with(&self, schedule: Schedule) -> Self {
        Self {
            text: schedule.to_string(),
            schedule,
            ..self.clone()
        }
    }

    /// The same under the schedule that stands in the store, where that is another version's; with less jitter, if its
    /// runs would else change places.
    pub(crate) fn under(&self, stored: &str) -> Result<Self, ScheduleError> {
        let plan = self.with(Schedule::parse(stored)?);
        let most = plan.closest().map(|closest| closest / 2);
        let jitter = most.map_or(plan.jitter, |most| plan.jitter.min(most));
        Ok(plan.spread(jitter))
    }

    /// When a task that the store has never seen falls due first: at the next slot of a schedule, at once for a fixed
    /// delay, never by itself on demand.
    pub(crate) fn first(&self, now: i64) -> Next {
        match self.schedule {
            Schedule::OnDemand => Next::Dormant,
            Schedule::After(_) => Next::at(now),
            Schedule::Every(_) | Schedule::Cron(_) => self.at(self.later_than(now, now)),
        }
    }

    /// When a waiting task falls due whose stored schedule was another one: never at once, so that a
    /// deploy does not run it twice in a row.
    pub(crate) fn changed(&self, now: i64) -> Next {
        match self.schedule {
            Schedule::After(delay) => Next::In(self.spread_delay(delay, now)),
            _ => self.first(now),
        }
    }

    /// What becomes of a claim: whether its slot, another, or none is run.
    pub(crate) fn fate(&self, claimed: &Claimed) -> Fate {
        let Some(slot) = claimed.slot.filter(|_| !claimed.is_extra()) else {
            return Fate::Run;
        };
        let Some(behind) = self.behind(claimed) else {
            return Fate::Run;
        };
        // Every claim of a slot is judged as the first one was.
        let now = claimed.begun_at;
        let young = || self.later_than(behind, self.oldest(now));
        let to_come = || self.later_than(behind, now);
        let next = [
            self.is_too_old(slot, now).then(young),
            self.is_missed(claimed, behind).then(to_come),
            Some(self.newest(behind, now)),
        ];
        let next = next.into_iter().flatten().flatten().max();
        // A fixed delay has no next slot to go on with.
        let Some(next) = next else { return Fate::Run };
        let skipped = self.count(behind, next).saturating_add(1);
        match self.at(Some(next)) {
            Next::At { slot, due } if due <= now => Fate::Later { slot, skipped },
            next => Fate::Skip { next, skipped },
        }
    }

    /// By `catch_up`.
    fn is_too_old(&self, slot: i64, now: i64) -> bool {
        let late = now.saturating_sub(self.due(slot));
        self.catch_up.is_some_and(|most| late > micros(most))
    }

    /// What fell due no later is too old.
    fn oldest(&self, now: i64) -> i64 {
        let window = self.catch_up.map_or(0, micros);
        now.saturating_sub(window).saturating_sub(1)
    }

    /// By `missed = "skip"`.
    fn is_missed(&self, claimed: &Claimed, behind: i64) -> bool {
        let late = claimed.begun_at.saturating_sub(claimed.due);
        let next = || self.slot_after(behind);
        let has_come = || next().is_some_and(|next| self.due(next) <= claimed.begun_at);
        self.missed == Missed::Skip && (late > LATE || late > SOON && has_come())
    }

    /// The first of those that `missed = "all"` runs, where the claimed one is not among them.
    fn newest(&self, behind: i64, now: i64) -> Option<i64> {
        if self.missed != Missed::All {
            return None;
        }
        let most = u64::from(self.most);
        // Those that have fallen due; the one that was claimed is one of them.
        let last = self
            .later_than(behind, now)
            .map_or(now, |next| now.min(next - 1));
        let is_full = self.schedule.count(behind, last, most) >= most;
        is_full.then(|| self.schedule.newest(behind, last, most))?
    }

    /// What comes next is later than this; `None` where it is no slot.
    fn behind(&self, claimed: &Claimed) -> Option<i64> {
        match (claimed.follows, claimed.slot) {
            // A later slot than the one that was there may have been taken in its place.
            (Some(Next::At { slot: next, .. }), Some(slot)) if !claimed.is_extra() => {
                Some(slot.max(next - 1))
            }
            (Some(Next::At { slot: next, .. }), _) => Some(next - 1),
            (Some(Next::In(_) | Next::Dormant), _) => None,
            (None, Some(slot)) if claimed.is_extra() => Some(slot - 1),
            (None, Some(slot)) => Some(slot),
            (None, None) => Some(claimed.due.max(claimed.now)),
        }
    }

    /// When the job falls due after its run, and how many slots that run stood for beside its own.
    ///
    /// The run of a slot leaves it behind; an extra run, which was due before the slot, leaves it to come, unless it
    /// has come while the run waited.
    pub(crate) fn next(&self, claimed: &Claimed) -> (Next, u32) {
        let Some(behind) = self.behind(claimed) else {
            return (claimed.follows.unwrap_or(Next::Dormant), 0);
        };
        match (&self.schedule, self.missed) {
            (Schedule::OnDemand, _) => (Next::Dormant, 0),
            (Schedule::After(delay), _) => (Next::In(self.spread_delay(*delay, claimed.due)), 0),
            (_, Missed::All) => (self.at(self.slot_after(behind)), 0),
            _ => {
                let next = self.later_than(behind, claimed.now);
                let missed = next.map_or(0, |next| self.count(behind, next));
                (self.at(next), missed)
            }
        }
    }

    /// Whether a slot that comes before the next attempt stands for it. An extra run has no attempts beyond it.
    pub(crate) fn covers_attempts(&self, claimed: &Claimed) -> bool {
        self.missed != Missed::All || claimed.is_extra()
    }

    /// The first slot later than `slot` that falls due later than `now`.
    fn later_than(&self, slot: i64, now: i64) -> Option<i64> {
        let mut last = slot.max(now.saturating_sub(micros(self.jitter)));
        loop {
            last = self.slot_after(last)?;
            if self.due(last) > now {
                return Some(last);
            }
        }
    }

    /// The slots between two, which are not among them.
    fn count(&self, slot: i64, next: i64) -> u32 {
        let count = self
            .schedule
            .count(slot, next.saturating_sub(1), MOST_COUNTED);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    pub(super) fn slot_after(&self, instant: i64) -> Option<i64> {
        self.schedule.slot_after(instant)
    }

    fn at(&self, slot: Option<i64>) -> Next {
        // There is none after the year 9999.
        slot.map_or(Next::Dormant, |slot| Next::At {
            slot,
            due: self.due(slot),
        })
    }

    /// When the run of a slot falls due.
    fn due(&self, slot: i64) -> i64 {
        slot.saturating_add(self.jitter_of(slot))
    }

    fn spread_delay(&self, delay: Duration, before: i64) -> Duration {
        let jitter = u64::try_from(self.jitter_of(before)).unwrap_or(0);
        delay.saturating_add(Duration::from_micros(jitter))
    }
}

#[cfg(test)]
mod tests;
