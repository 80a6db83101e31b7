//! What only the fields of days have: `L`, `W` and `#`.

use super::days::{DaysOfMonth, DaysOfWeek};
use super::field::Field;
use super::item::{value, values};
use super::mistake::CronError;
use super::part::Part;

/// The days of a month that count from its end: `L` to `L-30`.
const FARTHEST: u32 = 30;

/// Adds one item of the field for days of the month.
pub(super) fn day_of_month(days: &mut DaysOfMonth, item: Part<'_>) -> Result<(), CronError> {
    let field = Field::DayOfMonth;
    if item.is("L") {
        days.before_last |= 1;
    } else if item.is("LW") {
        days.last_working = true;
    } else if item.is("WL") {
        let message = "the last day from Monday to Friday is written \"LW\"";
        return Err(CronError::new(item.range(), message));
    } else if item.is("W") {
        let message = "`W` stands after a day of the month: write it as in \"15W\" or \"LW\"";
        return Err(CronError::new(item.range(), message));
    } else if let Some((left, back)) = item.split_once('-').filter(|(left, _)| left.is("L")) {
        let back = before_last(left, back)?;
        days.before_last |= 1 << back;
    } else if let Some(day) = item.without_last('W') {
        if day.text.contains(['-', '/', '*']) {
            return Err(working_days(item));
        }
        days.working |= 1 << value(field, day, true)?;
    } else if let Some(day) = item.without_last('L').filter(|_| item.text.len() > 1) {
        return Err(last_weekday_here(item, day));
    } else {
        // 31 is the last bit of 32.
        days.days |= u32::try_from(values(field, item)?).unwrap_or_default();
    }
    Ok(())
}

/// The number in `L-3`.
fn before_last(left: Part<'_>, back: Part<'_>) -> Result<u32, CronError> {
    let distance = back
        .text
        .parse()
        .ok()
        .filter(|distance| (1..=FARTHEST).contains(distance));
    distance.ok_or_else(|| {
        let message = if back.without_last('W').is_some() {
            "`L-` and `W` do not go together: write \"LW\", or a number of days before the last one as \
             in \"L-3\""
                .to_owned()
        } else {
            format!(
                "after `L-` stands how many days before the last one of the month, 1 to {FARTHEST}: \
                 write it as in \"L-3\", or \"L\" for the last day itself"
            )
        };
        CronError::new(left.range_to(back), message)
    })
}

fn working_days(item: Part<'_>) -> CronError {
    let message = "`W` goes with one day, for the nearest one from Monday to Friday: write each as in \
                   \"1W,15W\", or MON-FRI in the field for the day of the week";
    CronError::new(item.range(), message)
}

/// `FRIL` in the field for days of the month, or a number with `L`.
fn last_weekday_here(item: Part<'_>, day: Part<'_>) -> CronError {
    let message = if Field::DayOfWeek.named(day.text).is_some() {
        format!(
            "`{}` stands in the field for the day of the month: write \"*\" there, and it in the last \
             field",
            item.text
        )
    } else if let Some((start, _)) = day.split_once('-') {
        format!(
            "a range ends with a number: write \"{}-31\" to go to the end of each month",
            start.text.escape_debug()
        )
    } else {
        "the last day of the month is written \"L\", and one before it as in \"L-3\"".to_owned()
    };
    CronError::new(item.range(), message)
}

/// Adds one item of the field for days of the week.
pub(super) fn day_of_week(days: &mut DaysOfWeek, item: Part<'_>) -> Result<(), CronError> {
    let field = Field::DayOfWeek;
    if item.is("L") {
        let message =
            "`L` stands after a day of the week: write it as in \"FRIL\" for the last Friday";
        return Err(CronError::new(item.range(), message));
    }
    if let Some((weekday, nth)) = item.split_once('#') {
        let bit = one_weekday(item, weekday)?;
        if nth.is("L") {
            let message = format!("the last one is written \"{}L\"", weekday.text);
            return Err(CronError::new(item.range(), message));
        }
        let index = nth
            .text
            .parse::<usize>()
            .ok()
            .and_then(|nth| nth.checked_sub(1))
            .filter(|index| *index < days.nth.len() && nth.text.len() == 1)
            .ok_or_else(|| not_an_nth(weekday, nth))?;
        days.nth[index] |= bit;
    } else if let Some(weekday) = item.without_last('L') {
        days.last |= one_weekday(item, weekday)?;
    } else {
        // Seven bits.
        days.every |= u8::try_from(values(field, item)?).unwrap_or_default();
    }
    Ok(())
}

/// The weekday before `#` or `L`, as a bit.
fn one_weekday(item: Part<'_>, weekday: Part<'_>) -> Result<u8, CronError> {
    if weekday.is_empty() || weekday.text.contains(['-', '/', '*']) {
        let message = "`#` and `L` go with one day of the week: write each as in \"MON#1,TUE#1\" or \
                       \"THUL,FRIL\"";
        return Err(CronError::new(item.range(), message));
    }
    value(Field::DayOfWeek, weekday, true).map(|value| 1 << (value % 7))
}

fn not_an_nth(weekday: Part<'_>, nth: Part<'_>) -> CronError {
    let message = format!(
        "after `#` stands which one of the month, 1 to 5: write it as in \"{0}#1\", or \"{0}L\" for the \
         last one",
        weekday.text
    );
    CronError::new(weekday.range_to(nth), message)
}
