//! The message of each mistake between the attribute's brackets.

use quote::quote;

use super::{assert_item_messages, assert_messages, messages};

#[test]
fn all_mistakes_at_once() {
    assert_messages(
        quote!(ttl = "5M", tll = "3s", every = 30, every = "1s", "x"),
        &[
            "there is no unit `M`, minutes are `m`: write \"5m\"\n  5M\n   ^",
            "there is no option `tll`: did you mean `ttl`?",
            "`every` takes text in quotes: write `every = \"30s\"`",
            "`every` is given twice: remove one of them",
            "an option has a name: write it as in `ttl = \"30s\"`",
        ],
    );
}

#[test]
fn commas_and_equals_signs() {
    assert_messages(quote!(ttl = "30s",), &[]);
    let stray = "a comma without an option before it: remove it";
    assert_messages(quote!(,), &[stray]);
    assert_messages(quote!(ttl = "30s",, every = "1m"), &[stray]);
    assert_messages(
        quote!(ttl = "30s" every = "1m"),
        &["a comma is missing before this"],
    );
    assert_messages(
        quote!(ttl = "30s".into(), every = "0s"),
        &[
            "this does not belong to the value: remove it",
            "a duration is longer than zero: write one such as \"30s\"",
        ],
    );
    assert_messages(quote!(ttl), &["`ttl` needs a value: write `ttl = \"30s\"`"]);
    assert_messages(
        quote!(ttl =, every = "1m"),
        &["`ttl` needs a value: write `ttl = \"30s\"`"],
    );
    assert_messages(
        quote!(ttl("30s")),
        &["`ttl` needs a `=`: write `ttl = \"30s\"`"],
    );
    assert_messages(
        quote!(ttl: "30s"),
        &["`ttl` needs a `=`: write `ttl = \"30s\"`"],
    );
}

#[test]
fn values_of_another_type() {
    for (args, instead) in [
        (
            quote!(ttl = 30s),
            "ttl` takes text in quotes: write `ttl = \"30s\"`",
        ),
        (
            quote!(ttl = -30),
            "ttl` takes text in quotes: write `ttl = \"30s\"`",
        ),
        (
            quote!(ttl = 2.5),
            "ttl` takes text in quotes: write `ttl = \"30s\"`",
        ),
        (
            quote!(ttl = b"5s"),
            "ttl` takes text in quotes: write `ttl = \"30s\"`",
        ),
        (
            quote!(every = LONG),
            "every` takes text in quotes: write `every = \"5m\"`",
        ),
        (
            quote!(name = rates),
            "name` takes text in quotes: write `name = \"rates\"`",
        ),
        (
            quote!(on_lost = exit),
            "on_lost` takes text in quotes: write `on_lost = \"exit\"`",
        ),
        (
            quote!(on_lost = true),
            "on_lost` takes text in quotes: write `on_lost = \"abort\"`",
        ),
        (
            quote!(handle = "Rates"),
            "handle` takes a type's name without quotes, or false: write `handle = Rates`",
        ),
        (
            quote!(handle = 1),
            "handle` takes a type's name without quotes, or false: write `handle = RefreshRates`",
        ),
        (
            quote!(crate = "a::b"),
            "crate` takes a path without quotes: write `crate = a::b`",
        ),
        (
            quote!(crate = "a b"),
            "crate` takes a path without quotes: write `crate = my_facade::tasklock_runtime`",
        ),
    ] {
        assert_messages(args, &[&format!("`{instead}")]);
    }
    assert_messages(
        quote!(handle = true),
        &["a handle with the function's name is the default: remove this option"],
    );
}

#[test]
fn unknown_words() {
    assert_messages(
        quote!(interval = "5s"),
        &[
            "there is no option `interval`: the options are `name`, `alias`, `ttl`, `heartbeat`, `margin`, \
             `renew`, `stall`, `every`, `after`, `cron`, `tz`, `jitter`, `missed`, `max_missed`, `catch_up`, \
             `on_start`, `timeout`, `on_lost`, `retries`, `backoff`, `max_crashes`, `concurrency`, `queue`, \
             `priority`, `min_hold`, `keep`, `resource`, `crate`, `handle`",
        ],
    );
    assert_messages(
        quote!(on_lost = "abrt"),
        &["there is no on_lost \"abrt\": did you mean \"abort\"?"],
    );
    assert_messages(
        quote!(on_lost = "panic"),
        &["there is no on_lost \"panic\": write one of \"abort\", \"signal\", \"exit\""],
    );
}

#[test]
fn names() {
    assert_messages(
        quote!(name = ""),
        &["the name is empty: write one such as \"billing.refresh\""],
    );
    let long = quote::format_ident!("{}", "x".repeat(129));
    let item = quote!(async fn #long(lease: LeaseContext) {});
    let message = "a name has at most 128 bytes and this one has 129: shorten it";
    assert_item_messages(
        item.clone(),
        &[&format!(
            "{message}, or give it another one: `name = \"billing.refresh\"`"
        )],
    );
    assert_eq!(messages(quote!(name = "x"), item), [""; 0]);
}

#[test]
fn rules_across_options() {
    assert_messages(
        quote!(every = "5s", after = "5s"),
        &[
            "`every` and `after` exclude each other: keep `every` for a fixed rate, `after` for a fixed delay \
             after the end of a run, or `cron` for the calendar",
        ],
    );
    assert_messages(
        quote!(every = "99ms"),
        &["`every` is too short: write \"100ms\" or more"],
    );
    assert_messages(
        quote!(ttl = "400ms"),
        &["the ttl of 400ms is too short: write \"500ms\" or more"],
    );
    assert_messages(
        quote!(heartbeat = "20s"),
        &[
            "the heartbeat of 20s is too long for the ttl of 30s: two heartbeats of 20s (one may be \
           missed) and the margin of 6s must fit in it; write \"12s\" or less, or give a longer ttl",
        ],
    );
    assert_messages(
        quote!(after = "5s", concurrency = 2),
        &["a task with `after` has one job, and so one run at a time: remove `concurrency`"],
    );
    assert_messages(quote!(after = "5s", concurrency = 1), &[]);
    // Whether it fits depends on a ttl that nobody can read.
    assert_messages(
        quote!(ttl = "60", heartbeat = "20s"),
        &["the unit is missing: write \"60s\""],
    );
}
