//! What is wrong with one value of a field, and what to write instead.

use std::ops::Range;

use super::field::Field;
use super::mistake::CronError;
use super::part::Part;

/// No number, no name, nothing that this field has.
pub(super) fn unknown(field: Field, part: Part<'_>) -> CronError {
    let text = part.text;
    if let Some(sign) = text.chars().find(|c| !c.is_alphanumeric()) {
        return unexpected(field, part, sign);
    }
    let one = field.one();
    let message = if let Some(name) = longer_name(field, text) {
        format!("there is no {one} `{text}`: write \"{name}\"")
    } else if let Some(other) = [Field::Month, Field::DayOfWeek]
        .into_iter()
        .find(|other| *other != field && longer_name(*other, text).is_some())
    {
        format!(
            "`{text}` is a {} and stands in the field for the {one}: the fields are minute, hour, day of \
             the month, month, day of the week",
            other.one()
        )
    } else {
        format!("there is no {one} `{text}`: write {}", values(field))
    };
    CronError::new(part.range(), message)
}

/// `JUNE`, `Tues`, `MONDAY` and the like start as the name does; `MO` is the start of one name.
fn longer_name(field: Field, text: &str) -> Option<&'static str> {
    if let Some(value) = text.get(..3).and_then(|start| field.named(start)) {
        return field.name(value);
    }
    let mut starting = field.names().iter().filter(|name| {
        text.len() == 2
            && name
                .get(..2)
                .is_some_and(|start| start.eq_ignore_ascii_case(text))
    });
    let first = starting.next()?;
    starting.next().is_none().then_some(first)
}

/// What the field has, in words.
fn values(field: Field) -> String {
    let (least, most) = field.bounds();
    match field {
        Field::Month => format!("a number from {least} to {most}, or a name such as \"JAN\""),
        Field::DayOfWeek => {
            format!(
                "a number from {least} to {most}, where both are Sunday, or a name such as \"MON\""
            )
        }
        _ => format!(
            "a number from {least} to {most}, as in \"{}\"",
            least.max(3)
        ),
    }
}

fn unexpected(field: Field, part: Part<'_>, sign: char) -> CronError {
    let one = field.one();
    let message = match sign {
        '*' => format!("`*` stands alone or before a step: write a {one} in its place"),
        '?' if field.is_day() => {
            format!("`?` stands alone in its field: write a {one} in its place")
        }
        '?' => format!("only the fields of days have `?`: write \"*\" for every {one}"),
        // As a word processor writes it.
        '\u{2010}'..='\u{2015}' | '\u{2212}' => {
            let instead = part.text.replace(sign, "-");
            format!(
                "`{sign}` is no hyphen: write \"{}\"",
                instead.escape_debug()
            )
        }
        _ => {
            let sign = sign.escape_debug();
            format!(
                "unexpected `{sign}` in the field for the {one}: write {}",
                values(field)
            )
        }
    };
    CronError::new(part.range(), message)
}

/// A number that the field does not have. `alone` is one that is not the end of a range.
pub(super) fn out_of_bounds(field: Field, part: Part<'_>, alone: bool) -> CronError {
    let (least, most) = field.bounds();
    let (one, many, text) = (field.one(), field.many(), part.text);
    let turns_over = text.parse() == Ok(most + 1);
    let instead = match field {
        Field::Second | Field::Minute | Field::Hour if alone && turns_over => "\"0\"".to_owned(),
        Field::DayOfMonth if alone && text.parse::<u32>() != Ok(0) => {
            format!("\"{most}\" or less, or \"L\" for the last one")
        }
        _ if text.parse::<u32>() == Ok(0) => format!("\"{least}\" or more"),
        _ => format!("\"{most}\" or less"),
    };
    let message =
        format!("there is no {one} {text}, {many} are {least} to {most}: write {instead}");
    CronError::new(part.range(), message)
}

/// A range of anything but weekdays whose start is after its end.
pub(super) fn backwards(
    field: Field,
    (start, end): (Part<'_>, Part<'_>),
    around: (u32, u32),
    has_step: bool,
) -> CronError {
    let show = |value: u32| match field.name(value) {
        Some(name) if start.text.starts_with(char::is_alphabetic) => name.to_owned(),
        _ => value.to_string(),
    };
    let range = |from: u32, to: u32| {
        if from == to {
            show(from)
        } else {
            format!("{}-{}", show(from), show(to))
        }
    };
    let (from, to) = around;
    let (least, most) = field.bounds();
    let swapped = range(to, from);
    let message = if has_step {
        format!(
            "the range of {} runs backwards: write \"{swapped}\"",
            field.many()
        )
    } else {
        format!(
            "the range of {} runs backwards: write \"{swapped}\", or \"{},{}\" to go around the end",
            field.many(),
            range(from, most),
            range(least, to),
        )
    };
    CronError::new(start.range_to(end), message)
}

/// Something that is not there. `around` is the part that it is missing in.
pub(super) fn missing(field: Field, around: Range<usize>, what: &str, example: &str) -> CronError {
    let message = format!(
        "{what} is missing in the field for the {}: write it as in \"{example}\"",
        field.one()
    );
    CronError::new(around, message)
}

/// A step that is no number above zero.
pub(super) fn step(field: Field, step: Part<'_>) -> CronError {
    let message = format!(
        "a step is a number above 0, and `{}` in the field for the {} is none: write \"1\" or more",
        step.text.escape_debug(),
        field.one()
    );
    CronError::new(step.range(), message)
}

/// A step that leads nowhere: only `start` is left.
pub(super) fn long_step(field: Field, item: Part<'_>, step: u32, start: u32) -> CronError {
    let (one, many) = (field.one(), field.many());
    let message = format!(
        "a step of {step} is longer than its range of {many}, which leaves the {one} {start} alone: \
         write \"{start}\""
    );
    let unit = field.unit().filter(|_| item.text.starts_with('*'));
    let Some(unit) = unit else {
        return CronError::new(item.range(), message);
    };
    let rate = format!("{message}, or use a fixed rate such as `every = \"{step}{unit}\"`");
    let in_text = format!("{message}, or use a fixed rate such as \"every {step}{unit}\"");
    CronError::new(item.range(), rate).in_text(in_text)
}
