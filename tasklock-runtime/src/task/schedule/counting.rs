//! How many slots there are between two instants.

use super::{Schedule, micros};

/// No more slots of a cron are counted one by one: it takes some ten milliseconds.
pub(super) const MOST_COUNTED: u64 = 100_000;

impl Schedule {
    /// How many slots are later than `after`, and not later than `last`; of a cron no more than `most` are counted.
    pub(super) fn count(&self, after: i64, last: i64, most: u64) -> u64 {
        match self {
            Self::OnDemand | Self::After(_) => 0,
            Self::Every(period) => {
                let period = micros(*period).max(1);
                let count = last.div_euclid(period) - after.div_euclid(period);
                u64::try_from(count).unwrap_or(0)
            }
            Self::Cron(_) => {
                let slots =
                    std::iter::successors(self.slot_after(after), |slot| self.slot_after(*slot));
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                slots.take_while(|slot| *slot <= last).take(most).count() as u64
            }
        }
    }

    /// The earliest of the `most` newest slots up to `last`, of which there are more than that after `after`.
    pub(super) fn newest(&self, after: i64, last: i64, most: u64) -> Option<i64> {
        // From `low` there are enough, from `high` there are not: a bisection, for nobody can go back in a cron.
        let (mut low, mut high) = (after, last);
        while high.saturating_sub(low) > 1 {
            let middle = low + (high - low) / 2;
            if self.count(middle, last, most) >= most {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.slot_after(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    fn schedule(text: &str) -> Schedule {
        Schedule::parse(text).expect("it is one")
    }

    #[test]
    fn a_rate_and_its_cron_count_alike() {
        let (every, cron) = (schedule("every 5s"), schedule("cron */5 * * * * *"));
        for (after, last) in [
            (0, 0),
            (0, 4),
            (0, 5),
            (4, 5),
            (5, 10),
            (7, 600),
            (-12, 3),
            (9, 3),
        ] {
            let (after, last) = (after * SECOND, last * SECOND);
            let [one, two] = [&every, &cron].map(|schedule| schedule.count(after, last, 1_000));
            assert_eq!(one, two, "{after} {last}");
        }
        assert_eq!(cron.count(0, 600 * SECOND, 7), 7, "and no more are counted");
    }

    #[test]
    fn the_newest_are_found() {
        for text in ["every 5s", "cron */5 * * * * *"] {
            let schedule = schedule(text);
            let newest = |last: i64, most| schedule.newest(0, last * SECOND, most);
            assert_eq!(newest(600, 1), Some(600 * SECOND), "{text}");
            assert_eq!(newest(599, 1), Some(595 * SECOND), "{text}");
            assert_eq!(newest(600, 20), Some(505 * SECOND), "{text}");
        }
        // Most of them long ago.
        let january = schedule("cron * * * 1 *");
        let last = 200 * 86_400 * SECOND;
        assert_eq!(
            january.newest(0, last, 3),
            Some((31 * 86_400 - 180) * SECOND)
        );
    }
}
