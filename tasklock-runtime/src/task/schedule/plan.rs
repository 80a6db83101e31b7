//! What becomes of a slot: when its run falls due, and what is done about slots for which nobody had time.
//!
//! A slot is **missed** where it passes before it is run: no worker was up, or the run of the slot before it lasted, or everybody
//! was busy. What is done then is the attribute's `missed`, decided when the slot is claimed, and when its run ends, by the
//! store's clock at the claim (`now`):
//!
//! | | at the claim | the slot after the run |
//! | --- | --- | --- |
//! | `once` | it is run, and stands for those which have passed since | the first that falls due after `now` |
//! | `skip` | it is skipped with all that have fallen due, if the next one has, or if it is late by more than a minute | the first that falls due after `now` |
//! | `all` | it is run, unless more than `max_missed` slots wait: then the oldest are skipped | the next one, also if it has passed |
//!
//! Whatever the policy, slots that fell due longer than `catch_up` ago are skipped. Only a slot that was never started is: of
//! what has begun every attempt is made.
//!
//! Slots without a run of their own are counted: as *missed* where another run stood for them, as *skipped* where none did.
//!
//! **Jitter** makes a slot's run fall due later by a time that depends on the task's name and on the slot alone. So all replicas
//! agree on it, a task keeps its distance from another with the same schedule, and over many slots it is spread evenly. It
//! is shorter than the time between two slots: runs keep their order.

use std::time::Duration;

use super::counting::MOST_COUNTED;
use super::{Next, Schedule, ScheduleError, micros};

/// How late a slot may be claimed under `skip`, where the next one has not fallen due before: workers that are restarted one by
/// one take less.
const LATE: i64 = 60_000_000;
/// How many slots are looked at to see how close to each other they come.
const LOOKED_AT: usize = 200;

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
    schedule: Schedule,
    /// As it is stored.
    text: String,
    jitter: Duration,
    missed: Missed,
    /// How many are run under `all`.
    most: u32,
    catch_up: Option<Duration>,
    /// The task's own share in the jitter.
    seed: u64,
}

/// Slots that have passed without a run of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Passed {
    /// A run stood for them.
    pub missed: u32,
    /// No run did.
    pub skipped: u32,
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

    /// The same under the schedule that stands in the store, where that is another version's.
    pub(crate) fn under(&self, stored: &str) -> Result<Self, ScheduleError> {
        Ok(self.with(Schedule::parse(stored)?))
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

    /// Whether the slot that was claimed is not to be run: then the one to go on with, and how many are skipped.
    pub(crate) fn skips(&self, slot: i64, due: i64, now: i64) -> Option<(Next, u32)> {
        if due < slot {
            return None;
        }
        let late = now.saturating_sub(due);
        let next = match self.missed {
            _ if self.is_too_old(late) => self.later_than(slot, self.oldest(now)),
            Missed::Once => return None,
            Missed::Skip => {
                let next = self.slot_after(slot);
                let has_come = next.is_some_and(|next| self.due(next) <= now);
                if late <= LATE && !has_come {
                    return None;
                }
                self.later_than(slot, now)
            }
            Missed::All => {
                let most = u64::from(self.most);
                // The one that was claimed is one of them.
                if self.schedule.count(slot, now, most) < most {
                    return None;
                }
                self.schedule.newest(slot, now, most)
            }
        };
        // A fixed delay has no next slot to go on with.
        let next = next?;
        let skipped = self.count(slot, next).saturating_add(1);
        Some((self.at(Some(next)), skipped))
    }

    fn is_too_old(&self, late: i64) -> bool {
        self.catch_up.is_some_and(|most| late > micros(most))
    }

    /// What fell due no later is too old.
    fn oldest(&self, now: i64) -> i64 {
        let window = self.catch_up.map_or(0, micros);
        now.saturating_sub(window).saturating_sub(1)
    }

    /// When the job falls due after a run that was claimed `now`, and how many slots that run stood for beside its own.
    ///
    /// The run of a slot leaves it behind; an extra run, which was due before the slot, leaves it to come, unless it
    /// has come while the run waited.
    pub(crate) fn next(&self, slot: Option<i64>, due: i64, now: i64) -> (Next, u32) {
        let behind = match slot {
            Some(slot) if due < slot => slot - 1,
            Some(slot) => slot,
            None => due.max(now),
        };
        match (&self.schedule, self.missed) {
            (Schedule::OnDemand, _) => (Next::Dormant, 0),
            (Schedule::After(delay), _) => (Next::In(self.spread_delay(*delay, due)), 0),
            (_, Missed::All) => (self.at(self.slot_after(behind)), 0),
            _ => {
                let next = self.later_than(behind, now);
                let missed = next.map_or(0, |next| self.count(behind, next));
                (self.at(next), missed)
            }
        }
    }

    /// Whether a slot that comes before the next attempt stands for it.
    pub(crate) fn covers_attempts(&self) -> bool {
        self.missed != Missed::All
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

    fn slot_after(&self, instant: i64) -> Option<i64> {
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

    /// From zero to the task's jitter, the same for the same slot.
    fn jitter_of(&self, slot: i64) -> i64 {
        let most = micros(self.jitter);
        if most <= 0 {
            return 0;
        }
        let drawn = mixed(self.seed ^ mixed(slot.cast_unsigned()));
        // Of two 64-bit numbers the upper half of the product: even, where a remainder is not.
        let share = u128::from(drawn) * u128::from(most.unsigned_abs() + 1);
        i64::try_from(share >> 64).unwrap_or(most)
    }

    /// Whether runs could change places: what is wrong with the jitter then.
    pub(crate) fn check(&self) -> Result<(), String> {
        let shown = tasklock_grammar::display_duration;
        let Some(closest) = self.closest().filter(|closest| self.jitter >= *closest) else {
            return Ok(());
        };
        Err(format!(
            "jitter = \"{}\" is no shorter than the {} between two slots of `{}`: runs would change places; write less",
            shown(self.jitter),
            shown(closest),
            self.text
        ))
    }

    /// How close to each other the first slots come, as far as one can see.
    fn closest(&self) -> Option<Duration> {
        if self.jitter.is_zero() {
            return None;
        }
        let next = |slot: &i64| self.slot_after(*slot);
        let slots = std::iter::successors(self.slot_after(0), next).take(LOOKED_AT);
        let slots: Vec<i64> = slots.collect();
        let gaps = slots.windows(2).map(|pair| pair[1] - pair[0]);
        gaps.min()
            .map(|gap| Duration::from_micros(gap.unsigned_abs()))
    }
}

/// FNV-1a: the same whatever a binary was built with.
fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014), in Stafford's variant 13.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests;
