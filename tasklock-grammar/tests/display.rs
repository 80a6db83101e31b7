//! Durations as they are shown: the way they are read.

use std::time::Duration;

use tasklock_grammar::{MAX_DURATION, display_duration, parse_duration};

/// In milliseconds.
const HOUR: u64 = 60 * 60 * 1000;

#[test]
fn shown_as_it_is_read() {
    for (millis, text) in [
        (0, "0ms"),
        (1, "1ms"),
        (1500, "1s500ms"),
        (90_000, "1m30s"),
        (36 * HOUR, "1d12h"),
        (24 * HOUR + 1, "1d1ms"),
    ] {
        assert_eq!(display_duration(Duration::from_millis(millis)), text);
    }
    assert_eq!(display_duration(Duration::from_micros(333_333)), "333ms");
    assert_eq!(display_duration(Duration::from_nanos(1)), "0ms");
    assert_eq!(display_duration(MAX_DURATION), "3650d");
    // Longer than any accepted duration, still shown.
    assert!(display_duration(Duration::MAX).ends_with("999ms"));
}

#[test]
fn reading_undoes_showing() {
    let mut millis = 1;
    while millis < 3650 * 24 * HOUR {
        let duration = Duration::from_millis(millis);
        let shown = display_duration(duration);
        assert_eq!(parse_duration(&shown), Ok(duration), "{shown}");
        millis += millis / 97 + 1;
    }
}
