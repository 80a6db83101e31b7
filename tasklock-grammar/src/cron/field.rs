//! The six fields: their bounds and the words for them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Second,
    Minute,
    Hour,
    DayOfMonth,
    Month,
    DayOfWeek,
}

const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

impl Field {
    /// The least and the greatest number that may be written.
    pub(super) fn bounds(self) -> (u32, u32) {
        match self {
            Self::Second | Self::Minute => (0, 59),
            Self::Hour => (0, 23),
            Self::DayOfMonth => (1, 31),
            Self::Month => (1, 12),
            // Both ends are Sunday.
            Self::DayOfWeek => (0, 7),
        }
    }

    /// The last value of `*`, and of a step without an end: Sunday is not met twice.
    pub(super) fn last(self) -> u32 {
        match self {
            Self::DayOfWeek => 6,
            other => other.bounds().1,
        }
    }

    pub(super) fn is_day(self) -> bool {
        matches!(self, Self::DayOfMonth | Self::DayOfWeek)
    }

    pub(super) fn one(self) -> &'static str {
        match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of the month",
            Self::Month => "month",
            Self::DayOfWeek => "day of the week",
        }
    }

    pub(super) fn many(self) -> &'static str {
        match self {
            Self::Second => "seconds",
            Self::Minute => "minutes",
            Self::Hour => "hours",
            Self::DayOfMonth => "days of the month",
            Self::Month => "months",
            Self::DayOfWeek => "days of the week",
        }
    }

    /// The unit of durations that counts in this field.
    pub(super) fn unit(self) -> Option<&'static str> {
        match self {
            Self::Second => Some("s"),
            Self::Minute => Some("m"),
            Self::Hour => Some("h"),
            Self::DayOfMonth => Some("d"),
            Self::Month | Self::DayOfWeek => None,
        }
    }

    /// The names of its values, from the least on.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Month => &MONTHS,
            Self::DayOfWeek => &WEEKDAYS,
            _ => &[],
        }
    }

    /// The value that has this name.
    pub(super) fn named(self, name: &str) -> Option<u32> {
        (self.bounds().0..)
            .zip(self.names())
            .find_map(|(value, own)| own.eq_ignore_ascii_case(name).then_some(value))
    }

    /// The name of a value, if it has one.
    pub(super) fn name(self, value: u32) -> Option<&'static str> {
        let index = value.checked_sub(self.bounds().0)?;
        let names = self.names();
        names
            .get(usize::try_from(index).ok()? % names.len().max(1))
            .copied()
    }
}
