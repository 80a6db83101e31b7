//! When a task runs. All instants are microseconds since the Unix epoch, on the store's clock.
//!
//! # Slots
//!
//! A schedule is a set of instants, its **slots**; each is to be run once. Nobody keeps a list of them. The task's one job has
//! one slot at a time (`slot_at`), and whoever ends a run of it writes the next one, which follows from the slot that was
//! claimed and the store's clock at the claim, never from a worker's clock. Slots of a schedule only ever ascend, and a slot is
//! left by the one write that names its run's fence: so none ends twice, whatever the clocks show.
//!
//! A job may fall due at another time than its slot's: later by its jitter, later for another attempt, or earlier, where
//! somebody triggers it. The last is told by just that: **a run that was due before its slot is an extra one**, and the slot stays.
//!
//! | module | what it says |
//! | --- | --- |
//! | here | what a schedule is |
//! | `text` | how it is written, in the store and by operators |
//! | `counting` | how many slots there are between two instants |
//! | `claimed` | a slot that was claimed, and what may become of it |
//! | `plan` | what does: slots that were missed |
//! | `jitter` | by how much later its run falls due |

mod claimed;
mod counting;
mod jitter;
mod plan;
mod text;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use tasklock_grammar::{Cron, display_duration, parse_cron};

use super::cron::next_slot;
use super::zone::zone;

pub use claimed::Passed;
pub(crate) use claimed::{Claimed, Fate};
pub use plan::Missed;
pub(crate) use plan::Plan;
pub(crate) use text::ScheduleError;

/// The attribute's `every`, `after` or `cron`, as constant data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Declared {
    /// Only when triggered.
    OnDemand,
    /// At a fixed rate.
    Every(Duration),
    /// At a fixed delay after the end of the run before.
    After(Duration),
    /// By the calendar, in this zone or in UTC.
    Cron(&'static str, Option<&'static str>),
}

/// A schedule that can be asked.
#[derive(Debug, Clone)]
pub(crate) enum Schedule {
    /// Only when triggered.
    OnDemand,
    /// At a fixed rate: at the multiples of this period since the Unix epoch, so that replicas agree
    /// on the slots without talking to each other.
    Every(Duration),
    /// At a fixed delay after the end of the run before.
    After(Duration),
    /// By the calendar.
    Cron(Arc<Calendar>),
}

/// A cron and its zone.
#[derive(Debug)]
pub(crate) struct Calendar {
    cron: Cron,
    zone: TimeZone,
    /// As it is written.
    zone_name: String,
}

/// When a job falls due after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// For this slot.
    At {
        /// The slot.
        slot: i64,
        /// When its run falls due: jitter makes it later.
        due: i64,
    },
    /// So long after the store has written the end.
    In(Duration),
    /// Not until it is triggered.
    Dormant,
}

impl Next {
    /// For this slot, which falls due at its instant.
    #[must_use]
    pub const fn at(slot: i64) -> Self {
        Self::At { slot, due: slot }
    }
}

impl Declared {
    /// The schedule, or what is wrong with it.
    pub(crate) fn read(self) -> Result<Schedule, ScheduleError> {
        match self {
            Self::OnDemand => Ok(Schedule::OnDemand),
            Self::Every(period) => Ok(Schedule::Every(period)),
            Self::After(delay) => Ok(Schedule::After(delay)),
            Self::Cron(expression, zone) => Schedule::cron(expression, zone),
        }
    }
}

impl Schedule {
    fn cron(expression: &str, zone_name: Option<&str>) -> Result<Self, ScheduleError> {
        let cron =
            parse_cron(expression).map_err(|error| ScheduleError::cron(expression, &error))?;
        let zone_name = zone_name.unwrap_or(UTC);
        let zone = zone(zone_name).map_err(|error| ScheduleError::zone(&error))?;
        Ok(Self::Cron(Arc::new(Calendar {
            cron,
            zone,
            zone_name: zone_name.to_owned(),
        })))
    }

    /// The first slot that is strictly later than an instant. A fixed delay has none that could be known.
    pub(crate) fn slot_after(&self, instant: i64) -> Option<i64> {
        match self {
            Self::OnDemand | Self::After(_) => None,
            Self::Every(period) => Some(multiple_after(instant, *period)),
            Self::Cron(calendar) => next_slot(&calendar.cron, &calendar.zone, instant),
        }
    }
}

const UTC: &str = "UTC";

/// The first multiple of `period` after `instant`.
fn multiple_after(instant: i64, period: Duration) -> i64 {
    let period = micros(period).max(1);
    instant
        .div_euclid(period)
        .saturating_add(1)
        .saturating_mul(period)
}

/// Microseconds, as the stores count.
pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// As it is stored, to see whether it has changed, and for whoever ends a run under another version's schedule.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnDemand => f.write_str("on demand"),
            Self::Every(period) => write!(f, "every {}", display_duration(*period)),
            Self::After(delay) => write!(f, "after {}", display_duration(*delay)),
            Self::Cron(calendar) if calendar.zone_name == UTC => {
                write!(f, "cron {}", calendar.cron)
            }
            Self::Cron(calendar) => write!(f, "cron {} in {}", calendar.cron, calendar.zone_name),
        }
    }
}
