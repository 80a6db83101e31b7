//! The grammar of backoffs as tables: what is accepted, and each mistake with its whole message.

use std::time::Duration;

use tasklock_grammar::parse_backoff;

#[test]
fn accepted() {
    for (text, least, most) in [
        ("1s..10m", 1_000, 600_000),
        ("5s..5s", 5_000, 5_000),
        ("100ms..100ms", 100, 100),
        ("1m30s..1h", 90_000, 3_600_000),
    ] {
        let bounds = (Duration::from_millis(least), Duration::from_millis(most));
        assert_eq!(parse_backoff(text), Ok(bounds), "{text}");
    }
}

/// The text, the wrong part of it, the message.
const REFUSED: &[(&str, &str, &str)] = &[
    // One bound.
    (
        "5s",
        "5s",
        "a backoff has two bounds: write \"5s..5s\" for a constant delay, or one that grows as in \
         \"1s..10m\"",
    ),
    (
        "5ms",
        "5ms",
        "a backoff is two durations: write them as in \"1s..10m\"",
    ),
    (
        "",
        "",
        "a backoff is two durations: write them as in \"1s..10m\"",
    ),
    (
        "none",
        "none",
        "a backoff is two durations: write them as in \"1s..10m\"",
    ),
    (
        "..10m",
        "..",
        "the shortest delay is missing: write one as in \"1s..10m\"",
    ),
    (
        "1s..",
        "..",
        "the longest delay is missing: write one as in \"1s..10m\"",
    ),
    // Three.
    (
        "1s..1m..1h",
        "..1h",
        "a backoff has two bounds: write it as in \"1s..10m\"",
    ),
    // Other separators.
    (
        "1s-10m",
        "1s-10m",
        "between the bounds of a backoff stand two dots: write \"1s..10m\"",
    ),
    (
        "1s..=10m",
        "1s..=10m",
        "between the bounds of a backoff stand two dots: write \"1s..10m\"",
    ),
    (
        "1s...10m",
        "1s...10m",
        "between the bounds of a backoff stand two dots: write \"1s..10m\"",
    ),
    (
        "1s to 10m",
        "1s to 10m",
        "between the bounds of a backoff stand two dots: write \"1s..10m\"",
    ),
    (
        "1s .. 10m",
        "1s .. 10m",
        "a backoff has no blanks: write \"1s..10m\"",
    ),
    // A mistake in one half.
    (
        "1S..10m",
        "S",
        "there is no unit `S`, seconds are `s`: write \"1s\"",
    ),
    (
        "1s..10M",
        "M",
        "there is no unit `M`, minutes are `m`: write \"10m\"",
    ),
    ("1s..10", "10", "the unit is missing: write \"10s\""),
    (
        "1.5s..10m",
        "1.5",
        "a duration has no fractions: write \"1s500ms\"",
    ),
    (
        "1s..9999d",
        "9999d",
        "the duration is too long: write \"3650d\" (ten years) or less",
    ),
    // Their order and size.
    (
        "10m..1s",
        "1s",
        "the longest delay comes last: write \"1s..10m\"",
    ),
    (
        "10s..0s",
        "0s",
        "the longest delay comes last: write \"10s..10s\"",
    ),
    (
        "99ms..10m",
        "99ms",
        "a retry waits 100ms or longer: write \"100ms..10m\"",
    ),
    (
        "0s..10m",
        "0s",
        "a retry waits 100ms or longer: write \"100ms..10m\"",
    ),
    (
        "0s..1ms",
        "0s",
        "a retry waits 100ms or longer: write \"100ms..100ms\"",
    ),
];

#[test]
fn refused() {
    for (text, part, message) in REFUSED {
        let error = parse_backoff(text).expect_err(text);
        assert_eq!(error.message(), *message, "{text}");
        assert_eq!(&text[error.range()], *part, "{text}");
    }
}

/// Whoever does as the message says gets no second one.
#[test]
fn what_the_messages_say_to_write_is_right() {
    for (text, _, message) in REFUSED {
        for said in message.split('"').skip(1).step_by(2) {
            let is_whole = said.contains("..");
            assert!(!is_whole || parse_backoff(said).is_ok(), "{text}: {said}");
        }
    }
}
