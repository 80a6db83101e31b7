//! The dates and times that a cron means, without a zone.

use jiff::civil::{Date, DateTime, Time};
use tasklock_grammar::Cron;

/// The first date and time of a cron that is not before another, a whole second.
pub(super) fn first(cron: &Cron, from: DateTime) -> Option<DateTime> {
    let date = from.date();
    if days_of(cron, date.year(), date.month()) >> date.day() & 1 == 1
        && let Some(time) = time_from(cron, from.time())
    {
        return Some(date.to_datetime(time));
    }
    let date = date_after(cron, date)?;
    Some(date.to_datetime(time_from(cron, Time::midnight())?))
}

/// The first time of day that is not before another.
fn time_from(cron: &Cron, from: Time) -> Option<Time> {
    let hours = u64::from(cron.hours());
    let (hour, minute, second) = (from.hour(), from.minute(), from.second());
    let (minutes, seconds) = (cron.minutes(), cron.seconds());
    let in_hour = || {
        let in_minute = has(minutes, minute)
            .then(|| next(seconds, second))
            .flatten();
        in_minute
            .map(|second| (hour, minute, second))
            .or_else(|| Some((hour, next(minutes, minute + 1)?, next(seconds, 0)?)))
    };
    let (hour, minute, second) = has(hours, hour)
        .then(in_hour)
        .flatten()
        .or_else(|| Some((next(hours, hour + 1)?, next(minutes, 0)?, next(seconds, 0)?)))?;
    Time::new(hour, minute, second, 0).ok()
}

/// The first date after another. A cron has one within 40 years, or within less than jiff can tell.
fn date_after(cron: &Cron, after: Date) -> Option<Date> {
    let (mut year, mut month) = (after.year(), after.month());
    let mut days = days_of(cron, year, month) & (u32::MAX << after.day() << 1);
    let months = u64::from(cron.months());
    while days == 0 {
        month = match next(months, month + 1) {
            Some(month) => month,
            None => {
                year += 1;
                next(months, 1)?
            }
        };
        if year > DateTime::MAX.year() {
            return None;
        }
        days = days_of(cron, year, month);
    }
    Date::new(year, month, next(days.into(), 0)?).ok()
}

fn days_of(cron: &Cron, year: i16, month: i8) -> u32 {
    cron.days_of(year.into(), month.unsigned_abs())
}

fn has(bits: u64, place: i8) -> bool {
    bits >> place & 1 == 1
}

/// The place of the first bit that is set, from one on; `from` is less than 64.
fn next(bits: u64, from: i8) -> Option<i8> {
    let rest = bits >> from << from;
    (rest != 0).then(|| i8::try_from(rest.trailing_zeros()).ok())?
}
