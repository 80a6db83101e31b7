//! One item of a list: a value, a range, and the step through it.

use super::field::Field;
use super::mistake::CronError;
use super::part::Part;
use super::words;

/// The values that an item means, as bits: `7`, `MON`, `10-40`, `*`, each perhaps with a step.
pub(super) fn values(field: Field, item: Part<'_>) -> Result<u64, CronError> {
    let Some((base, step)) = item.split_once('/') else {
        let (start, end, _) = bounds(field, item, false)?;
        return Ok(bits(field, start, end, 1));
    };
    for (half, what) in [
        (base, "what comes before `/`"),
        (step, "the number after `/`"),
    ] {
        if half.is_empty() {
            return Err(words::missing(field, item.range(), what, "*/5"));
        }
    }
    let (start, end, is_single) = bounds(field, base, true)?;
    let end = if is_single {
        field.last().max(start)
    } else {
        end
    };
    let distance = number(step)
        .filter(|distance| *distance > 0)
        .ok_or_else(|| words::step(field, step))?;
    if distance > 1 && distance > end - start {
        return Err(words::long_step(field, item, distance, start % week(field)));
    }
    Ok(bits(field, start, end, distance))
}

/// One value, as a number.
pub(super) fn value(field: Field, part: Part<'_>, alone: bool) -> Result<u32, CronError> {
    if let Some(value) = field.named(part.text) {
        return Ok(value);
    }
    if part.is_empty() || !part.text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(words::unknown(field, part));
    }
    let (least, most) = field.bounds();
    number(part)
        .filter(|value| (least..=most).contains(value))
        .ok_or_else(|| words::out_of_bounds(field, part, alone))
}

/// The first and the last value, and whether only one was written. The last of a range of weekdays
/// that goes around the week is above 6.
fn bounds(field: Field, part: Part<'_>, has_step: bool) -> Result<(u32, u32, bool), CronError> {
    if part.text == "*" {
        return Ok((field.bounds().0, field.last(), false));
    }
    let Some((start, end)) = part.split_once('-') else {
        // The step of a Sunday starts at the beginning of the week.
        let value = value(field, part, true)?;
        let value = if has_step { value % week(field) } else { value };
        return Ok((value, value, true));
    };
    for (half, what) in [
        (start, "the start of the range"),
        (end, "the end of the range"),
    ] {
        if half.is_empty() {
            return Err(words::missing(field, part.range(), what, "3-5"));
        }
    }
    let from = value(field, start, false)?;
    let to = value(field, end, false)?;
    match field {
        _ if from <= to => Ok((from, to, false)),
        Field::DayOfWeek => Ok((from, to + 7, false)),
        _ => Err(words::backwards(field, (start, end), (from, to), has_step)),
    }
}

/// After how many values the field starts again, where a range may go around it.
fn week(field: Field) -> u32 {
    if field == Field::DayOfWeek { 7 } else { 64 }
}

fn bits(field: Field, start: u32, end: u32, step: u32) -> u64 {
    let step = usize::try_from(step).unwrap_or(usize::MAX);
    (start..=end)
        .step_by(step)
        .fold(0, |bits, value| bits | 1 << (value % week(field)))
}

/// Digits alone: `parse` would take a sign.
fn number(part: Part<'_>) -> Option<u32> {
    let is_number = part.text.bytes().all(|byte| byte.is_ascii_digit());
    part.text.parse().ok().filter(|_| is_number)
}
