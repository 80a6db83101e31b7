//! The message of each wrong parameter, and of options that do not go with the parameters.

use quote::quote;

use super::{assert_item_messages, handler, messages};

#[test]
fn leases() {
    let missing = "the lease is missing: write `lease: LeaseContext` before this";
    assert_item_messages(
        quote!(
            async fn f(p: Payload<u8>, s: State<u8>) {}
        ),
        &[missing],
    );
    assert_item_messages(
        quote!(
            async fn f(s: (rt::State<u8>)) {}
        ),
        &[missing],
    );
    assert_item_messages(
        quote!(
            async fn f(l: LeaseContext, s: State<u8>, m: LeaseContext) {}
        ),
        &["a task has one lease: remove this"],
    );
    assert_item_messages(
        quote!(
            async fn f(s: State<u8>, l: &LeaseContext) {}
        ),
        &[
            "the lease comes first: move this before the other parameters",
            "a task owns its lease: write `LeaseContext` without `&`",
        ],
    );
}

#[test]
fn further_parameters() {
    let name = "a task's parameter has a plain name: write";
    assert_item_messages(
        quote!(
            async fn f(l: L, Payload(p): Payload<u8>, State(_): State<u8>, (a, b): C) {}
        ),
        &[
            &format!("{name} `p`, which derefs to its value"),
            &format!("{name} one such as `payload`"),
            &format!("{name} one such as `payload`"),
        ],
    );
    let around = "a task's parameter is a named type: write `State<…>` or `Payload<…>` around it";
    assert_item_messages(
        quote!(
            async fn f(l: L, a: &State<u8>, b: State<impl Copy>, c: (u8, u8), d: [u8; 2]) {}
        ),
        &[
            "a task owns its parameters: write the type without `&`",
            "a task's parameter is a named type: write `State<…>` or `Payload<…>`",
            around,
            around,
        ],
    );
    assert_item_messages(
        quote!(
            async fn f(l: L, #[cfg(test)] s: State<u8>) {}
        ),
        &["a task's parameter has no `#[cfg]`: put it on the whole function"],
    );
}

#[test]
fn payloads() {
    let one = "a task has one payload: put both into one struct";
    assert_item_messages(
        quote!(
            async fn f(l: L, a: Payload<u8>, b: rt::Payload<u8>, c: (Payload<u8>)) {}
        ),
        &[one, one],
    );
    let owned = "a payload owns its data: write an owned type, such as `String` for `&str`";
    for ty in [
        quote!(&str),
        quote!(&'static str),
        quote!(Cow<'_, str>),
        quote!(Vec<(u8, &str)>),
    ] {
        assert_item_messages(
            quote!(
                async fn f(l: L, a: Payload<#ty>) {}
            ),
            &[owned],
        );
    }
}

#[test]
fn rules_between_options_and_parameters() {
    let payload = || {
        quote!(
            fn f(l: LeaseContext, p: Payload<u8>) {}
        )
    };
    let by_itself = |schedule| {
        format!(
            "a task with `{schedule}` runs by itself, and nobody gives it a payload: remove this \
             parameter, or remove `{schedule}` and enqueue its jobs"
        )
    };
    let hold = "`min_hold` would hold nothing back, jobs with a payload run side by side: \
                add `concurrency = 1`, or remove it";
    let thread =
        "a blocking task is a thread, which cannot be stopped: write \"signal\" or \"exit\"";
    for (args, expected) in [
        (quote!(every = "5s"), vec![by_itself("every")]),
        (
            quote!(min_hold = "1m", after = "5s"),
            vec![by_itself("after")],
        ),
        (quote!(min_hold = "1m"), vec![hold.to_owned()]),
        (quote!(min_hold = "1m", concurrency = 3), vec![]),
        (quote!(on_lost = "abort"), vec![thread.to_owned()]),
        (quote!(on_lost = "signal"), vec![]),
        (quote!(on_lost = "exit"), vec![]),
    ] {
        assert_eq!(messages(args, payload()), expected);
    }
    assert_eq!(messages(quote!(min_hold = "1m"), handler()), [""; 0]);
    // What cannot be read might have been what keeps the next one back.
    let unread = messages(quote!(min_hold = "1m", concurrency = "2"), payload());
    assert_eq!(unread.len(), 1);
}
