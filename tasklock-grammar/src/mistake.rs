//! What is wrong with a duration, where, and what to write instead.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use crate::duration::{MAX_DURATION, UNITS, display_duration, end_of, parse_duration, position};

/// Why a text is not a duration, or not the two of a backoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DurationError {
    message: String,
    range: Range<usize>,
}

impl DurationError {
    pub(crate) fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            range,
        }
    }

    /// For a text that starts so many bytes into a longer one.
    pub(crate) fn moved_by(mut self, bytes: usize) -> Self {
        self.range.start += bytes;
        self.range.end += bytes;
        self
    }

    /// One line: what is wrong, and what to write.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The bytes of the text that are wrong; always on character boundaries.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for DurationError {}

pub(crate) fn empty() -> DurationError {
    DurationError::new(0..0, "the duration is empty: write one such as \"30s\"")
}

pub(crate) fn zero(text: &str) -> DurationError {
    let message = "a duration is longer than zero: write one such as \"30s\"";
    DurationError::new(0..text.len(), message)
}

pub(crate) fn too_long(part: Range<usize>) -> DurationError {
    let most = MAX_DURATION.as_secs() / (24 * 60 * 60);
    let message = format!("the duration is too long: write \"{most}d\" (ten years) or less");
    DurationError::new(part, message)
}

pub(crate) fn repeated(text: &str, unit: Range<usize>) -> DurationError {
    let name = &text[unit.clone()];
    let message = format!("the unit `{name}` is given twice: write each once, as in \"1h30m\"");
    DurationError::new(unit, message)
}

pub(crate) fn ascending(unit: Range<usize>) -> DurationError {
    let message = "the units go from long to short: write them as in \"1h30m\"";
    DurationError::new(unit, message)
}

/// A part that does not start with a digit.
pub(crate) fn no_number(text: &str, at: usize) -> DurationError {
    let first = text[at..].chars().next().unwrap_or_default();
    let here = at..at + first.len_utf8();
    if first.is_whitespace() {
        return blank(text, here);
    }
    if matches!(first, '+' | '-') {
        let instead = or_else(text.replace(['+', '-'], ""), "30s");
        let message = format!("a duration has no sign: write \"{instead}\"");
        return DurationError::new(here, message);
    }
    if matches!(first, '.' | ',') {
        return fraction(text, at..at);
    }
    if first.is_alphabetic() {
        let word = at..end_of(text, at, char::is_alphabetic);
        let name = &text[word.clone()];
        let message = format!("the number before `{name}` is missing: write one such as \"30s\"");
        return DurationError::new(word, message);
    }
    unexpected(first, here)
}

/// Digits that no known unit follows. `previous` is the place of the unit before them.
pub(crate) fn no_unit(
    text: &str,
    digits: Range<usize>,
    unit: Range<usize>,
    previous: Option<usize>,
) -> DurationError {
    if !unit.is_empty() {
        return unknown_unit(text, &digits, unit);
    }
    let Some(next) = text[unit.end..].chars().next() else {
        // After hours come minutes; seconds are the best guess for a number that stands alone.
        let guess = previous.map_or("s", |place| UNITS[(place + 1).min(UNITS.len() - 1)].0);
        let instead = or_else(format!("{text}{guess}"), "1h30m");
        let message = format!("the unit is missing: write \"{instead}\"");
        return DurationError::new(digits, message);
    };
    let here = unit.end..unit.end + next.len_utf8();
    match next {
        '.' | ',' => fraction(text, digits),
        _ if next.is_whitespace() => blank(text, here),
        _ => unexpected(next, here),
    }
}

fn unknown_unit(text: &str, digits: &Range<usize>, unit: Range<usize>) -> DurationError {
    let name = &text[unit.clone()];
    let message = match meant(name) {
        Meant::Unit(right, words) => {
            let whole = format!("{}{right}{}", &text[..unit.start], &text[unit.end..]);
            let part = format!("{}{right}", &text[digits.clone()]);
            let instead = or_else(whole, &or_else(part, &format!("1{right}")));
            format!("there is no unit `{name}`, {words} are `{right}`: write \"{instead}\"")
        }
        Meant::Weeks => {
            format!("there is no unit `{name}`: write the days, as in \"7d\"")
        }
        Meant::TooFine => {
            format!("there is no unit `{name}`, the finest is `ms`: write \"1ms\" or more")
        }
        Meant::TooCoarse => {
            format!("there is no unit `{name}`, the longest is `d`: write the days, as in \"30d\"")
        }
        Meant::Nothing => {
            format!("there is no unit `{name}`: write one of `d`, `h`, `m`, `s`, `ms`")
        }
    };
    DurationError::new(unit, message)
}

/// What somebody meant who wrote a unit of another grammar.
enum Meant {
    Unit(&'static str, &'static str),
    Weeks,
    TooFine,
    TooCoarse,
    Nothing,
}

fn meant(unit: &str) -> Meant {
    match unit.to_lowercase().as_str() {
        "ms" | "msec" | "msecs" | "milli" | "millis" | "millisecond" | "milliseconds" => {
            Meant::Unit("ms", "milliseconds")
        }
        "s" | "sec" | "secs" | "second" | "seconds" => Meant::Unit("s", "seconds"),
        "m" | "min" | "mins" | "minute" | "minutes" => Meant::Unit("m", "minutes"),
        "h" | "hr" | "hrs" | "hour" | "hours" => Meant::Unit("h", "hours"),
        "d" | "day" | "days" => Meant::Unit("d", "days"),
        "w" | "week" | "weeks" => Meant::Weeks,
        // Both signs for micro; lower case turns the old one (U+00B5) into neither.
        "ns" | "nanos" | "us" | "\u{b5}s" | "\u{3bc}s" | "micros" => Meant::TooFine,
        "mo" | "month" | "months" | "y" | "yr" | "year" | "years" => Meant::TooCoarse,
        _ => Meant::Nothing,
    }
}

/// A fraction whose whole part, perhaps empty, is `digits`.
fn fraction(text: &str, digits: Range<usize>) -> DurationError {
    let decimals = digits.end + 1..end_of(text, digits.end + 1, |c| c.is_ascii_digit());
    let unit = decimals.end..end_of(text, decimals.end, char::is_alphabetic);
    let instead = in_millis(
        &text[digits.clone()],
        &text[decimals.clone()],
        &text[unit.clone()],
    )
    .filter(|_| digits.start == 0 && unit.end == text.len())
    .map_or_else(String::new, display_duration);
    let instead = or_else(instead, "1s500ms");
    let message = format!("a duration has no fractions: write \"{instead}\"");
    DurationError::new(digits.start..decimals.end, message)
}

/// `whole.decimals unit` as a duration, where that is a whole number of milliseconds.
fn in_millis(whole: &str, decimals: &str, unit: &str) -> Option<Duration> {
    let unit = UNITS[position(unit)?].1;
    let scale = 10u64.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    let number = format!("0{whole}{decimals}").parse::<u64>().ok()?;
    let scaled = number.checked_mul(unit)?;
    let millis = scaled / scale;
    (scaled % scale == 0 && millis > 0).then(|| Duration::from_millis(millis))
}

fn blank(text: &str, here: Range<usize>) -> DurationError {
    let instead = duration_of_words(text).unwrap_or_else(|| "1h30m".to_owned());
    let message = format!("a duration has no blanks: write \"{instead}\"");
    DurationError::new(here, message)
}

/// Numbers with the words of units, such as `1 hour 30 minutes`, as a duration is written: `1h30m`.
#[must_use]
pub fn duration_of_words(text: &str) -> Option<String> {
    let compact = text.replace(char::is_whitespace, "");
    let mut written = String::new();
    let mut at = 0;
    while at < compact.len() {
        let digits = at..end_of(&compact, at, |c| c.is_ascii_digit());
        let unit = digits.end..end_of(&compact, digits.end, char::is_alphabetic);
        let Meant::Unit(right, _) = meant(&compact[unit.clone()]) else {
            return None;
        };
        written.push_str(&compact[digits]);
        written.push_str(right);
        at = unit.end;
    }
    parse_duration(&written).ok().map(|_| written)
}

fn unexpected(found: char, here: Range<usize>) -> DurationError {
    let found = found.escape_debug();
    let message = format!("unexpected `{found}`: write numbers and units, as in \"1h30m\"");
    DurationError::new(here, message)
}

/// `suggestion`, if it is right in itself.
fn or_else(suggestion: String, general: &str) -> String {
    if parse_duration(&suggestion).is_ok() {
        suggestion
    } else {
        general.to_owned()
    }
}
