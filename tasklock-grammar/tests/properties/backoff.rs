//! Backoffs: any text is read or refused, and told where and why.

use proptest::prelude::*;
use tasklock_grammar::{MIN_BACKOFF, parse_backoff, parse_duration};

fn nearly() -> impl Strategy<Value = String> {
    let bound = prop::sample::select(vec![
        "1s", "10m", "5s", "100ms", "99ms", "0s", "3650d", "3651d", "5M", "10", "", " 1s", "é",
    ]);
    let separator = prop::sample::select(vec![
        "..",
        "..",
        "..",
        "..",
        " .. ",
        "...",
        "..=",
        "-",
        " to ",
        ",",
        "",
        "\0",
        "👩‍👧",
    ]);
    prop::collection::vec((bound, separator), 0..3).prop_map(|parts| {
        let text: String = parts.iter().flat_map(|(b, s)| [*b, *s]).collect();
        // Mostly without a separator at the end.
        text.strip_suffix("..").unwrap_or(&text).to_owned()
    })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![6 => nearly(), 1 => any::<String>()]
}

proptest! {
    #![proptest_config(super::cases(2_000))]

    #[test]
    fn a_text_is_read_as_the_grammar_says_or_refused(text in any_text()) {
        let plainly = text.split_once("..").and_then(|(least, most)| {
            let bounds = (parse_duration(least).ok()?, parse_duration(most).ok()?);
            (MIN_BACKOFF <= bounds.0 && bounds.0 <= bounds.1).then_some(bounds)
        });
        prop_assert_eq!(parse_backoff(&text).ok(), plainly);
    }

    #[test]
    fn a_refusal_says_where_and_what_to_write(text in any_text()) {
        let Err(error) = parse_backoff(&text) else {
            return Ok(());
        };
        let part = text.get(error.range());
        prop_assert!(part.is_some(), "{:?} of {text:?}", error.range());
        prop_assert_eq!(part.unwrap_or_default().is_empty(), text.is_empty());
        prop_assert!(!error.message().contains(char::is_control), "{error:?}");
        for advice in error.message().split('"').skip(1).step_by(2) {
            let is_right = parse_backoff(advice).is_ok() || parse_duration(advice).is_ok();
            prop_assert!(is_right, "{error:?}, but {advice:?} is refused");
        }
    }
}
