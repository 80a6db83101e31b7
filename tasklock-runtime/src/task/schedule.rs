//! When a task runs. All instants are microseconds since the Unix epoch, on the store's clock.

use std::fmt;
use std::time::Duration;

use tasklock_grammar::display_duration;

/// The attribute's `every` or `after`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Schedule {
    /// Only when triggered.
    OnDemand,
    /// At a fixed rate: at the multiples of this period since the Unix epoch, so that replicas agree
    /// on the slots without talking to each other.
    Every(Duration),
    /// At a fixed delay after the end of the run before.
    After(Duration),
}

/// When a job falls due after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// At this instant.
    At(i64),
    /// So long after the store has written the end.
    In(Duration),
    /// Not until it is triggered.
    Dormant,
}

impl Schedule {
    /// When a task that the store has never seen falls due first: at the next slot of a fixed rate,
    /// at once for a fixed delay, never by itself on demand.
    #[must_use]
    pub(crate) fn first(self, now: i64) -> Option<i64> {
        match self {
            Self::OnDemand => None,
            Self::Every(period) => Some(slot_after(now, period)),
            Self::After(_) => Some(now),
        }
    }

    /// When a waiting task falls due whose stored schedule was another one: never at once, so that a
    /// deploy does not run it twice in a row.
    #[must_use]
    pub(crate) fn changed(self, now: i64) -> Option<i64> {
        match self {
            Self::After(delay) => Some(now.saturating_add(micros(delay))),
            other => other.first(now),
        }
    }

    /// When the job falls due after the run of `slot`, which was claimed at `now`.
    ///
    /// At a fixed rate this is the first slot strictly later than both: slots that passed before the
    /// claim are covered by this run. Slots that pass during the run are due as soon as it ends, and
    /// then covered by one run.
    #[must_use]
    pub(crate) fn next(self, slot: i64, now: i64) -> Next {
        match self {
            Self::OnDemand => Next::Dormant,
            Self::Every(period) => Next::At(slot_after(slot.max(now), period)),
            Self::After(delay) => Next::In(delay),
        }
    }
}

/// The first multiple of `period` after `instant`.
fn slot_after(instant: i64, period: Duration) -> i64 {
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

/// As it is stored, to see at the next start whether it has changed.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnDemand => f.write_str("on demand"),
            Self::Every(period) => write!(f, "every {}", display_duration(*period)),
            Self::After(delay) => write!(f, "after {}", display_duration(*delay)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;
    const EVERY_5S: Schedule = Schedule::Every(Duration::from_secs(5));

    #[test]
    fn slots_are_multiples_since_the_epoch_and_strictly_later() {
        assert_eq!(EVERY_5S.first(12 * SECOND), Some(15 * SECOND));
        assert_eq!(EVERY_5S.first(15 * SECOND), Some(20 * SECOND));
        assert_eq!(EVERY_5S.first(15 * SECOND - 1), Some(15 * SECOND));
        assert_eq!(EVERY_5S.first(-1), Some(0));
    }

    #[test]
    fn a_late_claim_covers_the_slots_before_it() {
        assert_eq!(
            EVERY_5S.next(15 * SECOND, 15 * SECOND + 3),
            Next::At(20 * SECOND)
        );
        assert_eq!(
            EVERY_5S.next(15 * SECOND, 31 * SECOND),
            Next::At(35 * SECOND)
        );
    }

    /// A store's clock that steps back must not bring a slot again.
    #[test]
    fn the_next_slot_is_later_than_the_claimed_one_even_if_the_clock_steps_back() {
        assert_eq!(
            EVERY_5S.next(15 * SECOND, 2 * SECOND),
            Next::At(20 * SECOND)
        );
    }

    #[test]
    fn a_triggered_run_returns_to_the_grid() {
        assert_eq!(
            EVERY_5S.next(17 * SECOND, 17 * SECOND),
            Next::At(20 * SECOND)
        );
    }

    #[test]
    fn a_fixed_delay_counts_from_the_end() {
        let after = Schedule::After(Duration::from_secs(3));
        assert_eq!(
            after.next(15 * SECOND, 31 * SECOND),
            Next::In(Duration::from_secs(3))
        );
        assert_eq!(after.first(7), Some(7));
        assert_eq!(after.changed(7), Some(3 * SECOND + 7));
    }

    #[test]
    fn it_is_stored_in_the_words_of_the_attribute() {
        assert_eq!(
            Schedule::Every(Duration::from_secs(90)).to_string(),
            "every 1m30s"
        );
        assert_eq!(Schedule::OnDemand.to_string(), "on demand");
    }
}
