//! Durations as text: one or more `<integer><unit>`, from the longest unit to the shortest.

use std::time::Duration;

use crate::mistake::{self, DurationError};

/// The longest duration that [`parse_duration`] accepts: ten years of 365 days.
///
/// Every accepted duration thus fits in a `u64` of nanoseconds, and in a database's timestamp when
/// it is added to one.
pub const MAX_DURATION: Duration = Duration::from_secs(3650 * 24 * 60 * 60);

/// The shortest `catch_up`: 1 s. A slot that is claimed so soon was not missed.
pub const MIN_CATCH_UP: Duration = Duration::from_secs(1);

/// The shortest `every`: 100 ms. A claim is a round trip to the database, not a timer tick.
pub const MIN_EVERY: Duration = Duration::from_millis(100);

/// The shortest delay of a retry: 100 ms, for the same reason.
pub const MIN_BACKOFF: Duration = Duration::from_millis(100);

/// Every unit and its length in milliseconds, from long to short.
pub(crate) const UNITS: [(&str, u64); 5] = [
    ("d", 24 * 60 * 60 * 1000),
    ("h", 60 * 60 * 1000),
    ("m", 60 * 1000),
    ("s", 1000),
    ("ms", 1),
];

/// Reads a duration such as `"30s"`, `"500ms"`, `"1h30m"` or `"2d"`.
///
/// The units are `d`, `h`, `m`, `s` and `ms`, each at most once, the longer before the shorter.
/// `m` is always minutes. The grammar is narrow on purpose: a lease of five months instead of five
/// minutes is found in production, a compile error is found now.
///
/// # Errors
///
/// An empty text, a number without a unit or a unit without a number, an unknown unit, a fraction,
/// a sign, a blank, a repeated unit or one out of order, zero, and more than [`MAX_DURATION`]. The
/// error says what to write instead, and where in the text the mistake is.
///
/// ```
/// use std::time::Duration;
/// use tasklock_grammar::parse_duration;
///
/// assert_eq!(parse_duration("1h30m"), Ok(Duration::from_secs(5400)));
///
/// let error = parse_duration("5M").unwrap_err();
/// assert_eq!(error.message(), "there is no unit `M`, minutes are `m`: write \"5m\"");
/// assert_eq!(error.range(), 1..2);
/// ```
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    match read_duration(text)? {
        Duration::ZERO => Err(mistake::zero(text)),
        duration => Ok(duration),
    }
}

/// As [`parse_duration`], and zero.
pub(crate) fn read_duration(text: &str) -> Result<Duration, DurationError> {
    if text.is_empty() {
        return Err(mistake::empty());
    }
    let mut total = Duration::ZERO;
    let mut previous = None;
    let mut at = 0;
    while at < text.len() {
        let digits = at..end_of(text, at, |c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(mistake::no_number(text, at));
        }
        let unit = digits.end..end_of(text, digits.end, char::is_alphabetic);
        let Some(index) = position(&text[unit.clone()]) else {
            return Err(mistake::no_unit(text, digits, unit, previous));
        };
        match previous {
            Some(previous) if index == previous => return Err(mistake::repeated(text, unit)),
            Some(previous) if index < previous => return Err(mistake::ascending(unit)),
            _ => previous = Some(index),
        }
        total = text[digits.clone()]
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(UNITS[index].1))
            .and_then(|millis| total.checked_add(Duration::from_millis(millis)))
            .filter(|total| *total <= MAX_DURATION)
            .ok_or_else(|| mistake::too_long(digits.start..unit.end))?;
        at = unit.end;
    }
    Ok(total)
}

/// Writes a duration the way [`parse_duration`] reads it, such as `1h30m`.
///
/// Anything below a millisecond is cut off, so that a third of `1s` is `333ms`. Zero, which no
/// duration may be, is `0ms`.
///
/// ```
/// use std::time::Duration;
/// use tasklock_grammar::display_duration;
///
/// assert_eq!(display_duration(Duration::from_secs(5400)), "1h30m");
/// ```
#[must_use]
pub fn display_duration(duration: Duration) -> String {
    let mut rest = duration.as_millis();
    let mut text = String::new();
    for (unit, millis) in UNITS {
        let count = rest / u128::from(millis);
        rest %= u128::from(millis);
        if count > 0 {
            text.push_str(&format!("{count}{unit}"));
        }
    }
    if text.is_empty() {
        text.push_str("0ms");
    }
    text
}

/// The place of a unit in [`UNITS`].
pub(crate) fn position(unit: &str) -> Option<usize> {
    UNITS.iter().position(|(name, _)| *name == unit)
}

/// The end of the run of characters from `start` for which `belongs` is true.
pub(crate) fn end_of(text: &str, start: usize, belongs: impl Fn(char) -> bool) -> usize {
    text[start..]
        .find(|c| !belongs(c))
        .map_or(text.len(), |length| start + length)
}
