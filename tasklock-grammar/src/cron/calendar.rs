//! The Gregorian calendar, as far as a month goes.

/// All that the days of a cron depend on, besides which month of the year it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Month {
    /// In days.
    pub(super) length: u32,
    /// The weekday of its first day, from Sunday as 0.
    pub(super) first: u32,
}

/// Multiples of 7 below 31.
const WEEKS: u32 = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28;

impl Month {
    /// `month` is 1 to 12.
    pub(super) fn of(year: i32, month: u32) -> Self {
        Self {
            length: length(month, is_leap(year)),
            first: first_weekday(year, month),
        }
    }

    /// Every shape that a month has in some year.
    ///
    /// A year has one of 14 calendars: leap or not, and the weekday it starts on. All 14 occur within
    /// the 400 years after which the Gregorian calendar repeats, so each month meets every weekday
    /// as its first with each of its lengths.
    pub(super) fn shapes(month: u32) -> impl Iterator<Item = Self> {
        [false, true].into_iter().flat_map(move |leap| {
            (0..7).map(move |first| Self {
                length: length(month, leap),
                first,
            })
        })
    }

    /// The bits 1 to the length.
    pub(super) fn all(self) -> u32 {
        (u32::MAX >> (31 - self.length)) & !1
    }

    /// The days, as bits, that are this weekday.
    pub(super) fn every(self, weekday: u32) -> u32 {
        (WEEKS << (1 + (weekday + 7 - self.first) % 7)) & self.all()
    }

    pub(super) fn weekday(self, day: u32) -> u32 {
        (self.first + day - 1) % 7
    }

    /// The day from Monday to Friday that is nearest to a day, within the month.
    pub(super) fn working_day(self, day: u32) -> u32 {
        match self.weekday(day) {
            6 if day > 1 => day - 1,
            6 => day + 2,
            0 if day < self.length => day + 1,
            0 => day - 2,
            _ => day,
        }
    }
}

fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(super) fn length(month: u32, leap: bool) -> u32 {
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// By how many days the years and the months before it are longer than whole weeks. January and
/// February count with the year before, so that a leap day is the last of its year.
fn first_weekday(year: i32, month: u32) -> u32 {
    const MONTHS: [i32; 12] = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4];
    // The same calendar, and no overflow.
    let year = year.rem_euclid(400) + 400 - i32::from(month < 3);
    let index = usize::try_from(month - 1).unwrap_or_default() % 12;
    let days = year + year / 4 - year / 100 + year / 400 + MONTHS[index] + 1;
    days.rem_euclid(7).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Day by day, over the whole cycle: the weekday runs on, and every shape comes.
    #[test]
    fn four_hundred_years() {
        let mut weekday = 6; // 1 January 2000 was a Saturday.
        for year in 2000..2400 {
            for month in 1..=12 {
                let shape = Month::of(year, month);
                assert_eq!(shape.first, weekday, "{year}-{month}");
                assert_eq!(Month::of(year - 12_000, month), shape);
                assert!(Month::shapes(month).any(|known| known == shape));
                weekday = (weekday + shape.length) % 7;
            }
        }
        assert_eq!(weekday, 6, "the calendar repeats");
        for month in 1..=12 {
            for shape in Month::shapes(month) {
                assert!((2000..2400).any(|year| Month::of(year, month) == shape));
            }
        }
    }

    #[test]
    fn the_ends_of_what_a_year_can_be() {
        for year in [i32::MIN, i32::MAX] {
            assert!(Month::of(year, 1).first < 7);
        }
    }

    #[test]
    fn the_days_of_a_weekday() {
        let june_2026 = Month::of(2026, 6); // begins on a Monday
        assert_eq!(
            june_2026.every(1),
            1 << 1 | 1 << 8 | 1 << 15 | 1 << 22 | 1 << 29
        );
        assert_eq!(june_2026.every(0), 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28);
        assert_eq!(june_2026.all().count_ones(), 30);
    }
}
