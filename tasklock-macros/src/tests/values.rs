//! The message of each value that an option of its own kind refuses.

use quote::quote;

use super::assert_messages;

#[test]
fn numbers() {
    let plain = |key: &str, instead: &str| {
        format!("`{key}` takes a plain whole number: write `{key} = {instead}`")
    };
    for (args, message) in [
        (quote!(retries = "5"), plain("retries", "5")),
        (quote!(retries = "five"), plain("retries", "3")),
        (quote!(retries = 7u32), plain("retries", "7")),
        (quote!(retries = 5s), plain("retries", "5")),
        (quote!(retries = 7_0_i64), plain("retries", "70")),
        (quote!(retries = 2.0), plain("retries", "2")),
        (quote!(retries = 2.5), plain("retries", "3")),
        (quote!(retries = 1e3), plain("retries", "3")),
        (quote!(retries = +4), plain("retries", "4")),
        (quote!(retries = true), plain("retries", "3")),
        (quote!(retries = MAX), plain("retries", "3")),
        (quote!(retries = "-1"), plain("retries", "3")),
        (quote!(priority = "-1"), plain("priority", "-1")),
        (quote!(max_crashes = (3)), plain("max_crashes", "5")),
        (quote!(concurrency = "none"), plain("concurrency", "3")),
    ] {
        assert_messages(args, &[&message]);
    }
}

#[test]
fn numbers_out_of_their_range() {
    for (args, message) in [
        (
            quote!(retries = 1_000_001),
            "`retries` is at most 1000000: write `retries = 1000000` or less",
        ),
        (
            quote!(retries = 99999999999999999999999999),
            "`retries` is at most 1000000: write `retries = 1000000` or less",
        ),
        (
            quote!(retries = -1),
            "`retries` is at least 0: write `retries = 0` or more",
        ),
        (
            quote!(max_crashes = 0),
            "`max_crashes` is at least 1: write `max_crashes = 1` or more",
        ),
        (
            quote!(concurrency = 0),
            "`concurrency` is at least 1: write `concurrency = 1` or more",
        ),
        (
            quote!(priority = 32768),
            "`priority` is at most 32767: write `priority = 32767` or less",
        ),
        (
            quote!(priority = -32769),
            "`priority` is at least -32768: write `priority = -32768` or more",
        ),
        (
            quote!(priority = -99999999999999999999999999),
            "`priority` is at least -32768: write `priority = -32768` or more",
        ),
    ] {
        assert_messages(args, &[message]);
    }
    assert_messages(
        quote!(retries = 3 * 2, priority = 1),
        &["this does not belong to the value: remove it"],
    );
}

#[test]
fn numbers_in_their_range() {
    for args in [
        quote!(retries = 0, max_crashes = 1, concurrency = 1, priority = 0),
        quote!(
            retries = 1_000_000,
            max_crashes = 1_000_000,
            concurrency = 1_000_000
        ),
        quote!(priority = -32768),
        quote!(priority = 0x7fff),
    ] {
        assert_messages(args, &[]);
    }
}

#[test]
fn backoffs() {
    let quotes = "`backoff` takes text in quotes: write `backoff = \"1s..10m\"`";
    assert_messages(quote!(backoff = 1s..10m), &[quotes]);
    assert_messages(quote!(backoff = ("1s", "10m")), &[quotes]);
    assert_messages(quote!(backoff = 5), &[quotes]);
    assert_messages(
        quote!(backoff = 2s..1m),
        &["`backoff` takes text in quotes: write `backoff = \"2s..1m\"`"],
    );
    assert_messages(
        quote!(backoff = "1s..10M"),
        &["there is no unit `M`, minutes are `m`: write \"10m\"\n  1s..10M\n        ^"],
    );
    assert_messages(
        quote!(backoff = "10m..1s"),
        &["the longest delay comes last: write \"1s..10m\"\n  10m..1s\n       ^^"],
    );
    assert_messages(
        quote!(backoff = "5s"),
        &[
            "a backoff has two bounds: write \"5s..5s\" for a constant delay, or one that grows as in \
             \"1s..10m\"",
        ],
    );
}

#[test]
fn keeps() {
    assert_messages(quote!(keep = "none"), &[]);
    assert_messages(quote!(keep = "1d"), &[]);
    for nothing in ["None", "NONE", "non", "0", "0s", "0d0h"] {
        assert_messages(
            quote!(keep = #nothing),
            &[&format!(
                "there is no keep {nothing:?}: write \"none\" to keep nothing"
            )],
        );
    }
    let quotes = "`keep` takes text in quotes: write `keep = \"none\"`";
    assert_messages(quote!(keep = none), &[quotes]);
    assert_messages(quote!(keep = None), &[quotes]);
    assert_messages(quote!(keep = 0), &[quotes]);
    assert_messages(quote!(keep = false), &[quotes]);
    assert_messages(
        quote!(keep = 7d),
        &["`keep` takes text in quotes: write `keep = \"7d\"`"],
    );
    assert_messages(
        quote!(keep = "forever"),
        &["there is no keep \"forever\": write a duration such as \"1d\", or \"none\""],
    );
    assert_messages(
        quote!(keep = "1w"),
        &["there is no unit `w`: write the days, as in \"7d\"\n  1w\n   ^"],
    );
    assert_messages(
        quote!(keep = ""),
        &["the duration is empty: write one such as \"30s\""],
    );
}

#[test]
fn queues() {
    assert_messages(
        quote!(queue = slow),
        &["`queue` takes text in quotes: write `queue = \"slow\"`"],
    );
    assert_messages(
        quote!(queue = ""),
        &["the name is empty: write one such as \"slow\""],
    );
    assert_messages(
        quote!(queue = "slow "),
        &["a name has no blanks at its ends: write \"slow\""],
    );
    assert_messages(
        quote!(queue = ["slow"]),
        &["`queue` takes text in quotes: write `queue = \"slow\"`"],
    );
}
