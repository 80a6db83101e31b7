//! The grammar of durations as tables: what is accepted, and each mistake with its whole message.

use std::time::Duration;

use tasklock_grammar::{display_duration, parse_duration};

const MS: u64 = 1;
const S: u64 = 1000 * MS;
const M: u64 = 60 * S;
const H: u64 = 60 * M;
const D: u64 = 24 * H;

#[test]
fn accepted() {
    for (text, millis) in [
        ("1ms", MS),
        ("500ms", 500 * MS),
        ("30s", 30 * S),
        ("1m", M),
        ("90m", 90 * M),
        ("1h30m", H + 30 * M),
        ("2d", 2 * D),
        ("1d2h3m4s5ms", D + 2 * H + 3 * M + 4 * S + 5 * MS),
        ("1m5ms", M + 5 * MS),
        ("0h30m", 30 * M),
        ("007s", 7 * S),
        ("3650d", 3650 * D),
    ] {
        assert_eq!(
            parse_duration(text),
            Ok(Duration::from_millis(millis)),
            "{text}"
        );
    }
}

/// The text, the wrong part of it, the message.
const REFUSED: &[(&str, &str, &str)] = &[
    ("", "", "the duration is empty: write one such as \"30s\""),
    // No unit.
    ("30", "30", "the unit is missing: write \"30s\""),
    ("1h30", "30", "the unit is missing: write \"1h30m\""),
    ("1d2", "2", "the unit is missing: write \"1d2h\""),
    ("1s500", "500", "the unit is missing: write \"1s500ms\""),
    ("5ms5", "5", "the unit is missing: write \"1h30m\""),
    ("0", "0", "the unit is missing: write \"1h30m\""),
    // Other grammars' units.
    (
        "5M",
        "M",
        "there is no unit `M`, minutes are `m`: write \"5m\"",
    ),
    (
        "5min",
        "min",
        "there is no unit `min`, minutes are `m`: write \"5m\"",
    ),
    (
        "30sec",
        "sec",
        "there is no unit `sec`, seconds are `s`: write \"30s\"",
    ),
    (
        "30S",
        "S",
        "there is no unit `S`, seconds are `s`: write \"30s\"",
    ),
    (
        "2hours",
        "hours",
        "there is no unit `hours`, hours are `h`: write \"2h\"",
    ),
    (
        "2hr30min",
        "hr",
        "there is no unit `hr`, hours are `h`: write \"2h\"",
    ),
    (
        "1h30min",
        "min",
        "there is no unit `min`, minutes are `m`: write \"1h30m\"",
    ),
    (
        "1day",
        "day",
        "there is no unit `day`, days are `d`: write \"1d\"",
    ),
    (
        "9msec",
        "msec",
        "there is no unit `msec`, milliseconds are `ms`: write \"9ms\"",
    ),
    (
        "9MS",
        "MS",
        "there is no unit `MS`, milliseconds are `ms`: write \"9ms\"",
    ),
    (
        "1w",
        "w",
        "there is no unit `w`: write the days, as in \"7d\"",
    ),
    (
        "5us",
        "us",
        "there is no unit `us`, the finest is `ms`: write \"1ms\" or more",
    ),
    (
        "5µs",
        "µs",
        "there is no unit `µs`, the finest is `ms`: write \"1ms\" or more",
    ),
    (
        "5μs",
        "μs",
        "there is no unit `μs`, the finest is `ms`: write \"1ms\" or more",
    ),
    (
        "5ns",
        "ns",
        "there is no unit `ns`, the finest is `ms`: write \"1ms\" or more",
    ),
    (
        "1y",
        "y",
        "there is no unit `y`, the longest is `d`: write the days, as in \"30d\"",
    ),
    (
        "5x",
        "x",
        "there is no unit `x`: write one of `d`, `h`, `m`, `s`, `ms`",
    ),
    // No number.
    (
        "s",
        "s",
        "the number before `s` is missing: write one such as \"30s\"",
    ),
    (
        "PT30S",
        "PT",
        "the number before `PT` is missing: write one such as \"30s\"",
    ),
    // Signs, blanks, fractions, the rest.
    ("-5s", "-", "a duration has no sign: write \"5s\""),
    ("+5s", "+", "a duration has no sign: write \"5s\""),
    ("-0s", "-", "a duration has no sign: write \"30s\""),
    ("30 s", " ", "a duration has no blanks: write \"30s\""),
    ("1h 30m", " ", "a duration has no blanks: write \"1h30m\""),
    (" 5s", " ", "a duration has no blanks: write \"5s\""),
    ("5s\n", "\n", "a duration has no blanks: write \"5s\""),
    (" ", " ", "a duration has no blanks: write \"1h30m\""),
    (
        "1.5s",
        "1.5",
        "a duration has no fractions: write \"1s500ms\"",
    ),
    (
        "1,5s",
        "1,5",
        "a duration has no fractions: write \"1s500ms\"",
    ),
    // Read as a duration it would be too long.
    (
        "3650.1d",
        "3650.1",
        "a duration has no fractions: write \"1s500ms\"",
    ),
    ("0.5h", "0.5", "a duration has no fractions: write \"30m\""),
    (
        ".25s",
        ".25",
        "a duration has no fractions: write \"250ms\"",
    ),
    ("2.0d", "2.0", "a duration has no fractions: write \"2d\""),
    (
        "1.23456s",
        "1.23456",
        "a duration has no fractions: write \"1s500ms\"",
    ),
    (
        "1h1.5m",
        "1.5",
        "a duration has no fractions: write \"1s500ms\"",
    ),
    ("1.", "1.", "a duration has no fractions: write \"1s500ms\""),
    (
        "1_000ms",
        "_",
        "unexpected `_`: write numbers and units, as in \"1h30m\"",
    ),
    (
        "5s;",
        ";",
        "unexpected `;`: write numbers and units, as in \"1h30m\"",
    ),
    (
        "5s\0",
        "\0",
        "unexpected `\\0`: write numbers and units, as in \"1h30m\"",
    ),
    (
        "5🦀",
        "🦀",
        "unexpected `🦀`: write numbers and units, as in \"1h30m\"",
    ),
    // Order.
    (
        "1m1m",
        "m",
        "the unit `m` is given twice: write each once, as in \"1h30m\"",
    ),
    (
        "1ms1ms",
        "ms",
        "the unit `ms` is given twice: write each once, as in \"1h30m\"",
    ),
    (
        "30m1h",
        "h",
        "the units go from long to short: write them as in \"1h30m\"",
    ),
    // Size.
    (
        "0s",
        "0s",
        "a duration is longer than zero: write one such as \"30s\"",
    ),
    (
        "0h0m",
        "0h0m",
        "a duration is longer than zero: write one such as \"30s\"",
    ),
    (
        "3651d",
        "3651d",
        "the duration is too long: write \"3650d\" (ten years) or less",
    ),
    (
        "3650d1ms",
        "1ms",
        "the duration is too long: write \"3650d\" (ten years) or less",
    ),
    (
        "18446744073709551615d",
        "18446744073709551615d",
        "the duration is too long: write \"3650d\" (ten years) or less",
    ),
    (
        "99999999999999999999s",
        "99999999999999999999s",
        "the duration is too long: write \"3650d\" (ten years) or less",
    ),
];

#[test]
fn refused() {
    for &(text, part, message) in REFUSED {
        let error = parse_duration(text).expect_err(text);
        assert_eq!(error.message(), message, "{text:?}");
        assert_eq!(&text[error.range()], part, "{text:?}");
    }
}

/// Every text of up to four pieces: no panic, ranges within the text, one line, and whatever the
/// message tells the user to write is accepted.
#[test]
fn every_combination_of_pieces() {
    let pieces = [
        "", "0", "1", "30", "d", "h", "m", "s", "ms", "M", "min", "w", ".", "-", " ", "_", "µ",
    ];
    for text in combinations(&pieces, 4) {
        match parse_duration(&text) {
            Ok(duration) => {
                let shown = display_duration(duration);
                assert_eq!(parse_duration(&shown), Ok(duration), "{text:?}");
            }
            Err(error) => {
                assert!(text.get(error.range()).is_some(), "{text:?}");
                assert!(!error.message().contains('\n'), "{text:?}");
                for quoted in error.message().split('"').skip(1).step_by(2) {
                    assert!(parse_duration(quoted).is_ok(), "{text:?}: {quoted:?}");
                }
            }
        }
    }
}

fn combinations(pieces: &[&str], length: usize) -> Vec<String> {
    let mut texts = vec![String::new()];
    for _ in 0..length {
        texts = texts
            .iter()
            .flat_map(|text| pieces.iter().map(move |piece| format!("{text}{piece}")))
            .collect();
    }
    texts.sort();
    texts.dedup();
    texts
}
