//! The two bounds between which the delays of retries grow, as text: `"1s..10m"`.

use std::ops::Range;
use std::time::Duration;

use crate::duration::{MIN_BACKOFF, display_duration, parse_duration, read_duration};
use crate::mistake::DurationError;

const EXAMPLE: &str = "1s..10m";
const DOTS: &str = "..";

/// Reads the shortest and the longest delay of a backoff, such as `"1s..10m"`.
///
/// Both are durations as [`parse_duration`] reads them, the shortest first, and at least
/// [`MIN_BACKOFF`]. One duration alone is refused, because it might mean either bound.
///
/// # Errors
///
/// The mistakes of [`parse_duration`] in either half, a missing or a third bound, anything but `..`
/// between them, a shortest delay below [`MIN_BACKOFF`] or above the longest. The error's range is
/// that of the half that is wrong.
///
/// ```
/// use std::time::Duration;
/// use tasklock_grammar::parse_backoff;
///
/// let bounds = (Duration::from_secs(1), Duration::from_secs(600));
/// assert_eq!(parse_backoff("1s..10m"), Ok(bounds));
///
/// let error = parse_backoff("1s..10M").unwrap_err();
/// assert_eq!(error.message(), "there is no unit `M`, minutes are `m`: write \"10m\"");
/// assert_eq!(error.range(), 6..7);
/// ```
pub fn parse_backoff(text: &str) -> Result<(Duration, Duration), DurationError> {
    if let Some(error) = other_separator(text) {
        return Err(error);
    }
    let dots = text.find(DOTS).ok_or_else(|| no_dots(text))?;
    let halves = [0..dots, dots + DOTS.len()..text.len()];
    for (half, which) in halves.iter().zip(["shortest", "longest"]) {
        if half.is_empty() {
            let message = format!("the {which} delay is missing: write one as in \"{EXAMPLE}\"");
            return Err(DurationError::new(dots..dots + DOTS.len(), message));
        }
    }
    if let Some(third) = text[halves[1].clone()].find(DOTS) {
        let message = format!("a backoff has two bounds: write it as in \"{EXAMPLE}\"");
        let third = halves[1].start + third..text.len();
        return Err(DurationError::new(third, message));
    }
    let [shortest, longest] = halves.clone().map(|half| bound(text, half));
    let (shortest, longest) = (shortest?, longest?);
    let [at_shortest, at_longest] = halves;
    if shortest < MIN_BACKOFF {
        Err(too_short(at_shortest, longest))
    } else if longest < shortest {
        Err(descending(at_longest, shortest, longest))
    } else {
        Ok((shortest, longest))
    }
}

/// One half, whose zero is judged as any other delay that is too short.
fn bound(text: &str, half: Range<usize>) -> Result<Duration, DurationError> {
    read_duration(&text[half.clone()]).map_err(|error| error.moved_by(half.start))
}

fn too_short(at: Range<usize>, longest: Duration) -> DurationError {
    let least = display_duration(MIN_BACKOFF);
    let most = display_duration(longest.max(MIN_BACKOFF));
    let message = format!("a retry waits {least} or longer: write \"{least}..{most}\"");
    DurationError::new(at, message)
}

fn descending(at: Range<usize>, shortest: Duration, longest: Duration) -> DurationError {
    let [least, most] = if longest < MIN_BACKOFF {
        [shortest, shortest]
    } else {
        [longest, shortest]
    }
    .map(display_duration);
    let message = format!("the longest delay comes last: write \"{least}..{most}\"");
    DurationError::new(at, message)
}

/// A text without `..`.
fn no_dots(text: &str) -> DurationError {
    let constant = format!("{text}{DOTS}{text}");
    let message = if parse_backoff(&constant).is_ok() {
        format!(
            "a backoff has two bounds: write \"{constant}\" for a constant delay, \
             or one that grows as in \"{EXAMPLE}\""
        )
    } else {
        format!("a backoff is two durations: write them as in \"{EXAMPLE}\"")
    };
    DurationError::new(0..text.len(), message)
}

/// Two bounds that something else separates, or with blanks around the dots.
fn other_separator(text: &str) -> Option<DurationError> {
    let compact = text.replace(char::is_whitespace, "");
    // The longer of those that start alike come first.
    let meant = ["..=", "...", DOTS, "-", "\u{2013}", "to", ",", ":", "/"]
        .into_iter()
        .filter_map(|separator| compact.split_once(separator))
        .map(|(least, most)| format!("{least}{DOTS}{most}"))
        .find(|meant| meant != text && is_right(meant))?;
    let message = if compact == meant {
        format!("a backoff has no blanks: write \"{meant}\"")
    } else {
        format!("between the bounds of a backoff stand two dots: write \"{meant}\"")
    };
    Some(DurationError::new(0..text.len(), message))
}

/// [`parse_backoff`] itself asks here.
fn is_right(meant: &str) -> bool {
    let bounds = meant.split_once(DOTS).and_then(|(least, most)| {
        let [least, most] = [least, most].map(|bound| parse_duration(bound).ok());
        least.zip(most)
    });
    bounds.is_some_and(|(least, most)| MIN_BACKOFF <= least && least <= most)
}
