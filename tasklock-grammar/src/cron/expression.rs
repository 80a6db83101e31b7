//! A cron that was read.

use std::fmt;

use super::calendar::Month;
use super::days::{self, DaysOfMonth, DaysOfWeek};

/// A cron expression: at which times of which days, by the clock on a wall.
///
/// [`parse_cron`](crate::parse_cron) makes one. Two are equal if they are written the same, but for
/// blanks and case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    pub(super) text: String,
    pub(super) seconds: u64,
    pub(super) minutes: u64,
    pub(super) hours: u32,
    pub(super) months: u16,
    pub(super) days_of_month: DaysOfMonth,
    pub(super) days_of_week: DaysOfWeek,
    pub(super) interval: bool,
}

impl Cron {
    /// The seconds of a minute, as bits 0 to 59; bit 0 alone for an expression of five fields.
    #[must_use]
    pub fn seconds(&self) -> u64 {
        self.seconds
    }

    /// The minutes of an hour, as bits 0 to 59.
    #[must_use]
    pub fn minutes(&self) -> u64 {
        self.minutes
    }

    /// The hours of a day, as bits 0 to 23.
    #[must_use]
    pub fn hours(&self) -> u32 {
        self.hours
    }

    /// The months of a year, as bits 1 to 12.
    #[must_use]
    pub fn months(&self) -> u16 {
        self.months
    }

    /// The days of one month, as bits 1 to 31. There are none in a month that the month field leaves
    /// out, nor in one that does not exist.
    ///
    /// ```
    /// use tasklock_grammar::parse_cron;
    ///
    /// let cron = parse_cron("0 0 L * *").unwrap();
    /// assert_eq!(cron.days_of(2024, 2), 1 << 29);
    /// ```
    #[must_use]
    pub fn days_of(&self, year: i32, month: u8) -> u32 {
        if !(1..=12).contains(&month) || self.months >> month & 1 == 0 {
            return 0;
        }
        let month = Month::of(year, month.into());
        days::days(&self.days_of_month, &self.days_of_week, month)
    }

    /// Whether it runs on a date of the proleptic Gregorian calendar.
    #[must_use]
    pub fn matches_date(&self, year: i32, month: u8, day: u8) -> bool {
        (1..=31).contains(&day) && self.days_of(year, month) >> day & 1 == 1
    }

    /// Whether it goes by elapsed time: its minute or its hour field starts with `*`.
    ///
    /// This decides what happens when clocks are set. Such a job follows the clock on the wall as it
    /// is: it runs in both passes of an hour that comes twice, and not in one that is skipped. Every
    /// other job runs once for a time that comes twice, and at the end of a gap for all its times in it.
    ///
    /// The field of the seconds has no say: `*/10 30 2 * * *` is a job of half past two that runs six
    /// times, six times in all if that minute comes twice, and once if it is skipped.
    ///
    /// ```
    /// use tasklock_grammar::parse_cron;
    ///
    /// assert!(parse_cron("*/15 * * * *").unwrap().is_interval());
    /// assert!(parse_cron("30 */2 * * *").unwrap().is_interval());
    /// assert!(!parse_cron("30 2 * * *").unwrap().is_interval());
    /// assert!(!parse_cron("*/10 30 2 * * *").unwrap().is_interval());
    /// ```
    #[must_use]
    pub fn is_interval(&self) -> bool {
        self.interval
    }
}

/// As it is stored: as it was written, in upper case and with single blanks.
///
/// ```
/// let cron = tasklock_grammar::parse_cron(" 0  9 * *  mon-fri ").unwrap();
/// assert_eq!(cron.to_string(), "0 9 * * MON-FRI");
/// ```
impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
