//! Dates that never come.

use super::calendar::{Month, length};
use super::days;
use super::expression::Cron;
use super::mistake::CronError;
use super::part::Part;

/// Checks that some day comes, of the six fields that were read.
///
/// Which days of a month are meant depends on the month of the year and on its shape alone, and
/// [`Month::shapes`] has every shape that ever comes: at most 168 months are looked at, and no answer
/// is a guess. Times need no check, for every minute of every day is one.
pub(super) fn check(cron: &Cron, fields: &[Part<'_>; 6]) -> Result<(), CronError> {
    let comes = |days: &dyn Fn(Month) -> u32| {
        days::ones(cron.months.into())
            .flat_map(Month::shapes)
            .any(|month| days(month) != 0)
    };
    let (of_month, of_week) = (&cron.days_of_month, &cron.days_of_week);
    if comes(&|month| days::days(of_month, of_week, month)) {
        return Ok(());
    }
    let [_, _, _, day, month, weekday] = *fields;
    if comes(&|month| of_month.of(month)) {
        // One of the two starts with `*`, or either would have been enough.
        let message = format!(
            "this never comes: no day in the months `{}` is both in `{}` and in `{}`, and it has to be, \
             because a field that starts with `*` only narrows the other one; write \"*\" in one of the two",
            month.text, day.text, weekday.text
        );
        return Err(CronError::new(weekday.range(), message));
    }
    let longest = days::ones(cron.months.into())
        .map(|month| length(month, true))
        .max()
        .unwrap_or_default();
    let last = if day.text.contains(['W', 'w']) {
        "LW"
    } else {
        "L"
    };
    let message = format!(
        "this never comes: there is no day `{}` in `{}`, {longest} days are the most; write a day that \
         comes, or \"{last}\" for the last one",
        day.text, month.text
    );
    Err(CronError::new(day.range(), message))
}
