//! Durations: any text is read or refused, and told where and why.

use std::time::Duration;

use proptest::prelude::*;
use tasklock_grammar::{MAX_DURATION, display_duration, parse_duration};

/// The documented grammar once more: at most one part a unit, in this order, nothing else; and longer
/// than zero, but no longer than ten years.
fn plainly(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut millis = 0_u128;
    for (unit, length) in [
        ("d", 86_400_000),
        ("h", 3_600_000),
        ("m", 60_000),
        ("s", 1_000),
        ("ms", 1),
    ] {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &rest[..rest.len() - number.len()];
        let Some(after) = number.strip_prefix(unit).filter(|_| !digits.is_empty()) else {
            continue;
        };
        // The m of ms is no minute.
        if after.starts_with(char::is_alphabetic) {
            continue;
        }
        // Twenty digits are more than any u64; that so many do not add up to little is checked below.
        let significant = digits.trim_start_matches('0');
        let number = match significant.len() {
            0 => 0,
            1..=20 => significant.parse::<u128>().ok()?,
            _ => return None,
        };
        millis += number * length;
        rest = after;
    }
    let duration = Duration::from_millis(u64::try_from(millis).ok()?);
    (rest.is_empty() && !duration.is_zero() && duration <= MAX_DURATION).then_some(duration)
}

/// Texts that are nearly durations, made of what people write and of what breaks readers of text.
fn nearly() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        4 => (0_u64..100_000).prop_map(|number| number.to_string()),
        1 => any::<u64>().prop_map(|number| number.to_string()),
        1 => "[0-9]{0,40}",
        1 => "0{0,30}[1-9]",
        // Around the longest days that fit.
        1 => (3_640_u64..3_660).prop_map(|number| number.to_string()),
        // Digits, but not ASCII's.
        1 => Just("٣".to_owned()),
        1 => Just("１".to_owned()),
    ];
    let unit = prop_oneof![
        12 => prop::sample::select(vec!["d", "h", "m", "s", "ms"]),
        2 => prop::sample::select(vec![
            "D", "M", "MS", "min", "sec", "hours", "w", "us", "µs", "μs", "ns", "mo", "y", "é",
            "e\u{301}", "ſ", "İ", "ﬁ", "ms\u{301}", "分",
        ]),
        2 => prop::sample::select(vec![
            "", " ", "\u{a0}", "\n", "\0", "+", "-", ".", ",", ".5s", "\"", "`", "\\", "\u{202e}",
            "\u{feff}", "👩‍👧", "{}",
        ]),
    ];
    prop::collection::vec((number, unit), 0..5)
        .prop_map(|parts| parts.into_iter().map(|(n, u)| n + u).collect())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![4 => nearly(), 1 => any::<String>(), 1 => "\\PC{0,12}"]
}

/// What the message quotes as something to write.
fn advice(message: &str) -> Option<&str> {
    let (before, _) = message.rsplit_once('"')?;
    Some(before.rsplit_once('"')?.1)
}

proptest! {
    #![proptest_config(super::cases(2_000))]

    #[test]
    fn a_text_is_read_as_the_grammar_says_or_refused(text in any_text()) {
        prop_assert_eq!(parse_duration(&text).ok(), plainly(&text));
    }

    #[test]
    fn a_refusal_says_where_and_what_to_write(text in any_text()) {
        let Err(error) = parse_duration(&text) else {
            return Ok(());
        };
        let (range, message) = (error.range(), error.message());
        // Panics if it is not within the text, on boundaries of characters.
        let part = text.get(range.clone());
        prop_assert!(part.is_some(), "{range:?} of {text:?}");
        let part = part.unwrap_or_default();
        prop_assert_eq!(part.is_empty(), text.is_empty(), "{:?} of {:?}", range, text);

        prop_assert!(!message.contains(char::is_control), "{message:?}");
        if message.contains('`') {
            let escaped: String = part.chars().flat_map(char::escape_debug).collect();
            let named = [part, &escaped].map(|part| message.contains(&format!("`{part}`")));
            // Or it lists the units.
            prop_assert!(named.contains(&true), "{message:?} does not name {part:?}");
        }
        if let Some(advice) = advice(message) {
            prop_assert!(parse_duration(advice).is_ok(), "{message:?}, but {advice:?} is refused");
        }
    }

    #[test]
    fn what_is_written_is_read_back(millis in 1..=MAX_DURATION.as_millis() as u64, below in 0..1_000_000_u32) {
        let whole = Duration::from_millis(millis);
        let text = display_duration(whole + Duration::from_nanos(below.into()));
        prop_assert_eq!(parse_duration(&text), Ok(whole), "{}", text);
    }

    #[test]
    fn what_was_read_is_written_so_that_it_reads_the_same(text in nearly()) {
        if let Ok(duration) = parse_duration(&text) {
            prop_assert_eq!(parse_duration(&display_duration(duration)), Ok(duration));
        }
    }

    #[test]
    fn any_duration_can_be_written(seconds: u64, nanos in 0..1_000_000_000_u32) {
        let duration = Duration::new(seconds, nanos);
        let read = parse_duration(&display_duration(duration));
        let fits = (Duration::from_millis(1)..=MAX_DURATION).contains(&duration);
        prop_assert_eq!(read.is_ok(), fits);
    }
}

#[test]
fn the_texts_above_are_of_both_kinds() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let read = (0..1_000)
        .filter(|_| {
            let text = nearly().new_tree(&mut runner).unwrap().current();
            parse_duration(&text).is_ok()
        })
        .count();
    assert!((50..950).contains(&read), "{read} of 1000 are durations");
}
