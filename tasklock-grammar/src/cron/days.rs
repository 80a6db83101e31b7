//! The two day fields, and which days of a month they mean together.

use super::calendar::Month;

/// The field for days of the month. A bit set has a bit for each number that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct DaysOfMonth {
    /// Starts with `*` or is `?`.
    pub(super) star: bool,
    pub(super) days: u32,
    /// `L` is bit 0, `L-3` is bit 3.
    pub(super) before_last: u32,
    /// `15W`
    pub(super) working: u32,
    /// `LW`
    pub(super) last_working: bool,
}

/// The field for days of the week. A bit set has a bit for each weekday, from Sunday as bit 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct DaysOfWeek {
    /// Starts with `*` or is `?`.
    pub(super) star: bool,
    pub(super) every: u8,
    /// `MON#1` to `MON#5`
    pub(super) nth: [u8; 5],
    /// `FRIL`
    pub(super) last: u8,
}

impl DaysOfMonth {
    /// The days of one month, as bits 1 to 31.
    pub(super) fn of(&self, month: Month) -> u32 {
        let mut found = self.days & month.all();
        for back in ones(self.before_last).filter(|back| *back < month.length) {
            found |= 1 << (month.length - back);
        }
        for day in ones(self.working & month.all()) {
            found |= 1 << month.working_day(day);
        }
        if self.last_working {
            found |= 1 << month.working_day(month.length);
        }
        found
    }
}

impl DaysOfWeek {
    /// The days of one month, as bits 1 to 31.
    pub(super) fn of(&self, month: Month) -> u32 {
        let every = |weekdays: u8| {
            ones(weekdays.into()).fold(0, |days, weekday| days | month.every(weekday))
        };
        let mut found = every(self.every);
        for (week, weekdays) in (0..).zip(self.nth) {
            // The nth of any weekday lies in the nth seven days.
            found |= every(weekdays) & (0b1111_1110 << (7 * week));
        }
        found | every(self.last) & !(month.all() >> 7)
    }
}

/// Both fields. If both are restricted, either is enough; a field that starts with `*` only narrows
/// what the other one says.
pub(super) fn days(of_month: &DaysOfMonth, of_week: &DaysOfWeek, month: Month) -> u32 {
    let (one, other) = (of_month.of(month), of_week.of(month));
    if of_month.star || of_week.star {
        one & other
    } else {
        one | other
    }
}

/// The places of the bits that are set.
pub(super) fn ones(mut bits: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros();
        bits &= bits.checked_sub(1)?;
        Some(place)
    })
}
