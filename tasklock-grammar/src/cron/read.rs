//! From the text to the fields, and from the fields to a cron.

use super::days::{DaysOfMonth, DaysOfWeek};
use super::expression::Cron;
use super::field::Field;
use super::item::values;
use super::mistake::{self, CronError};
use super::part::Part;
use super::{last, never, nickname};

/// Reads a cron expression such as `"0 9 * * MON-FRI"`.
///
/// # Fields
///
/// Five fields with blanks between them, or six with the second before them:
///
/// | field | values | also |
/// | --- | --- | --- |
/// | second, if there are six | 0–59 | |
/// | minute | 0–59 | |
/// | hour | 0–23 | |
/// | day of the month | 1–31 | `L`, `L-3`, `LW`, `15W`, `?` |
/// | month | 1–12 or `JAN`–`DEC` | |
/// | day of the week | 0–7 or `SUN`–`SAT`; 0 and 7 are Sunday | `MON#1`, `FRIL`, `?` |
///
/// Names and letters are read in any case. In each field stands a list, `1,15,20-25`, of
///
/// - a value: `7`, `MON`;
/// - a range, both ends included: `9-17`. Only one of weekdays may go around its end, because the
///   week has no natural one: `FRI-MON` is four days, `22-2` of hours is refused, and the error says
///   to write `22-23,0-2`;
/// - `*`: every value, alone in its field;
/// - a step through a range, from its start: `10-40/10`, `*/15`. `5/20` starts at 5 and goes to
///   the end: 5, 25 and 45. `*/15` may stand in a list if it comes first: `*/15,7`. A step that is longer than its
///   range is refused: `*/90` in the field of the minutes would mean minute 0, not 90 minutes.
///
/// And in the fields of days
///
/// - `L`, the last day of the month, and `L-3`, three days before it;
/// - `15W`, the day from Monday to Friday that is nearest to the 15th and in the same month, and `LW`,
///   the last such day of the month. In a month without the day, such as for `31W`, there is none;
/// - `MON#1`, the first Monday of the month, up to `MON#5`, which not every month has, and `FRIL` (or
///   `5L`), the last Friday;
/// - `?`, which is `*` in other words.
///
/// `@yearly` (or `@annually`), `@monthly`, `@weekly`, `@daily` (or `@midnight`) and `@hourly` stand in
/// place of all fields. They mean midnight of the first day, and Sunday's.
///
/// # Which days
///
/// If both fields of days are restricted, a day that is in *either* of them is meant: `0 0 13 * FRI` runs on
/// each 13th and on each Friday. A field is restricted unless it starts with `*` or is `?`. One that
/// starts with `*` and goes on only narrows the other: `0 0 */2 * MON` runs on Mondays with an odd date.
/// This is how Vixie's cron reads them.
///
/// A date that never comes, such as 31 February, is refused. 29 February is not.
///
/// # Errors
///
/// Any other text. The error says what to write instead, and where in the text the mistake is.
///
/// ```
/// use tasklock_grammar::parse_cron;
///
/// let cron = parse_cron("0 9 1 JUN *").unwrap();
/// assert!(cron.matches_date(2026, 6, 1));
/// assert!(!cron.matches_date(2026, 6, 2));
///
/// let error = parse_cron("0 9 1 JUNE *").unwrap_err();
/// assert_eq!(error.message(), "there is no month `JUNE`: write \"JUN\"");
/// assert_eq!(error.range(), 6..10);
///
/// let error = parse_cron("0 0 31 4,6 *").unwrap_err();
/// assert_eq!(error.range(), 4..6);
/// ```
pub fn parse_cron(text: &str) -> Result<Cron, CronError> {
    let words: Vec<Part<'_>> = Part::whole(text).words().collect();
    let Some(first) = words.first() else {
        return Err(mistake::empty(text));
    };
    if first.text.starts_with('@') {
        let fields = nickname::fields(&words)?;
        let mut cron = parse_cron(fields)?;
        cron.text = first.text.to_ascii_lowercase();
        return Ok(cron);
    }
    let zero = Part::whole("0");
    let fields: [Part<'_>; 6] = match words[..] {
        [minute, hour, day, month, weekday] => [zero, minute, hour, day, month, weekday],
        [second, minute, hour, day, month, weekday] => [second, minute, hour, day, month, weekday],
        _ if words.len() < 5 => return Err(mistake::too_few(text, &words)),
        _ => return Err(mistake::too_many(&words)),
    };
    let [seconds, minutes, hours, day, months, weekday] = fields;
    let cron = Cron {
        seconds: number_field(Field::Second, seconds)?,
        minutes: number_field(Field::Minute, minutes)?,
        hours: narrow(number_field(Field::Hour, hours)?),
        days_of_month: days_of_month(day)?,
        months: narrow(number_field(Field::Month, months)?),
        days_of_week: days_of_week(weekday)?,
        interval: is_star(minutes) || is_star(hours),
        text: written(&words),
    };
    never::check(&cron, &fields)?;
    Ok(cron)
}

/// Single blanks and upper case.
fn written(words: &[Part<'_>]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.text).collect();
    words.join(" ").to_ascii_uppercase()
}

fn number_field(field: Field, part: Part<'_>) -> Result<u64, CronError> {
    items(field, part)?
        .iter()
        .try_fold(0, |bits, item| Ok(bits | values(field, *item)?))
}

fn days_of_month(part: Part<'_>) -> Result<DaysOfMonth, CronError> {
    let mut days = DaysOfMonth {
        star: is_star(part),
        ..DaysOfMonth::default()
    };
    for item in items(Field::DayOfMonth, every(part))? {
        last::day_of_month(&mut days, item)?;
    }
    Ok(days)
}

fn days_of_week(part: Part<'_>) -> Result<DaysOfWeek, CronError> {
    let mut days = DaysOfWeek {
        star: is_star(part),
        ..DaysOfWeek::default()
    };
    for item in items(Field::DayOfWeek, every(part))? {
        last::day_of_week(&mut days, item)?;
    }
    Ok(days)
}

/// `?` is `*`.
fn every(part: Part<'_>) -> Part<'_> {
    if part.text == "?" {
        Part::whole("*")
    } else {
        part
    }
}

/// Whether a field starts with `*`, which decides how fields of days combine and how clocks that are
/// set are met.
fn is_star(part: Part<'_>) -> bool {
    part.text.starts_with('*') || part.text == "?"
}

/// The items of a list. One that starts with `*` has none before it that does not, so that what a field
/// means does not depend on the order of its list.
fn items(field: Field, part: Part<'_>) -> Result<Vec<Part<'_>>, CronError> {
    let items: Vec<_> = part.split(',').collect();
    let has = |text: &str| items.iter().any(|item| item.text == text);
    let has_star = items.iter().any(|item| item.text.starts_with('*'));
    if has("") {
        Err(mistake::missing_item(field, part))
    } else if (has("*") && items.len() > 1) || (has_star && !is_star(part)) {
        Err(mistake::star_inside(part))
    } else {
        Ok(items)
    }
}

/// Bits of values that are below the number of the type's bits.
fn narrow<T: TryFrom<u64> + Default>(bits: u64) -> T {
    T::try_from(bits).unwrap_or_default()
}
