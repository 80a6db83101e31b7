//! How much is claimed ahead: what the worker does within [`HORIZON`], by what its runs have taken lately.

use std::time::Duration;

use super::slots::Slots;
use crate::lease::Moment;

/// A claim and the writing of an end take some milliseconds each.
const HORIZON: Duration = Duration::from_millis(20);
/// A pace that is measured over less than this is not believed.
const LEAST_SPAN: Duration = Duration::from_millis(1);

/// What runs have taken lately.
#[derive(Debug, Default)]
pub(super) struct Pace {
    before: Option<(Moment, usize, u64)>,
    /// Ends a second.
    rate: f64,
    /// Seconds that a run is in its slot.
    length: f64,
}

impl Pace {
    /// Measures since the last call, and lets so many be claimed ahead. Both the number of the ends and the length of the
    /// runs bound it: long runs that end all at once are no pace, nor are short ones that have one slot among many.
    pub(super) fn set(&mut self, slots: &Slots, now: Moment) {
        let (ended, busy) = slots.made();
        let (then, ends, was_busy) = *self.before.get_or_insert((now, ended, busy));
        let span = now.since(then);
        if span < LEAST_SPAN {
            return;
        }
        self.before = Some((now, ended, busy));
        let runs = ended.wrapping_sub(ends) as f64;
        let span = span.as_secs_f64();
        let horizon = HORIZON.as_secs_f64();
        // What was longer ago than the horizon counts for little.
        let weight = 1.0 - (-span / horizon).exp();
        self.rate += (runs / span - self.rate) * weight;
        if runs > 0.0 {
            let length = busy.wrapping_sub(was_busy) as f64 / 1e9 / runs;
            self.length = (self.length + length) / 2.0;
        }
        let by_length = slots.total() as f64 * horizon / self.length.max(1e-6);
        let ahead = (2.0 * self.rate * horizon).min(by_length);
        slots.set_ahead(ahead as usize);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::run::slots::Seat;
    use crate::run::slots::tests::slots;
    use crate::store::MAX_BATCH;

    fn at(millis: u64) -> Moment {
        Moment::from_nanos(millis * 1_000_000)
    }

    fn run(slots: &Arc<Slots>, runs: usize) {
        for _ in 0..runs {
            slots.seat("task").starts();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn short_runs_are_claimed_ahead_and_long_ones_are_not() {
        let slots = slots(4, true);
        let mut pace = Pace::default();
        pace.set(&slots, at(0));
        assert_eq!(slots.room(), 4);
        run(&slots, 100);
        pace.set(&slots, at(10));
        let room = slots.room();
        assert!((100..=4 + MAX_BATCH).contains(&room), "{room}");
        // A while later it is forgotten.
        pace.set(&slots, at(500));
        assert_eq!(slots.room(), 4);
        // Four of a second each, which end at once.
        let mut seats: Vec<Seat> = (0..4).map(|_| slots.seat("task")).collect();
        seats.iter_mut().for_each(Seat::starts);
        tokio::time::advance(Duration::from_secs(1)).await;
        pace.set(&slots, at(1_499));
        drop(seats);
        pace.set(&slots, at(1_501));
        assert_eq!(slots.room(), 4);
    }

    #[tokio::test]
    async fn nothing_is_claimed_ahead_where_time_counts_from_the_claim() {
        let slots = slots(4, false);
        let mut pace = Pace::default();
        pace.set(&slots, at(0));
        run(&slots, 100);
        pace.set(&slots, at(10));
        assert_eq!(slots.room(), 4);
    }
}
