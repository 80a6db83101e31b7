//! What a right and a wrong attribute expand to.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ItemFn;

use super::handler;
use crate::expand_attribute;

#[track_caller]
fn assert_contains(expansion: &TokenStream, part: &TokenStream) {
    let (expansion, part) = (expansion.to_string(), part.to_string());
    assert!(expansion.contains(&part), "{part}\nis not in\n{expansion}");
}

/// The page shows what the attribute really becomes.
#[test]
fn the_whole_expansion() {
    let page = include_str!("../how_it_works.md");
    let blocks: Vec<_> = page.split("```\n").skip(1).step_by(2).collect();
    let [written, shown] = blocks[..] else {
        panic!("the page has {} blocks of code", blocks.len());
    };
    let (written, shown) = (visible(written), visible(shown));
    let mut item: ItemFn = syn::parse_str(&written).unwrap();
    let attribute = item.attrs.remove(0);
    let args = attribute.meta.require_list().unwrap().tokens.clone();
    let expansion = expand_attribute(args, item.into_token_stream());
    let shown_tokens: TokenStream = shown.parse().unwrap();
    // Of a comment, quote! makes a raw string; and blanks between tokens say where they come from.
    let of = |tokens: &TokenStream| {
        let text = tokens.to_string().replace("= r\"", "= \"");
        text.split_whitespace().collect::<String>()
    };
    assert_eq!(of(&expansion), of(&shown_tokens));
    let lines = shown.lines().count();
    assert!(lines <= 60, "{lines} lines");
}

/// A block of code as a reader sees it.
fn visible(block: &str) -> String {
    let hidden = |line: &&str| !line.starts_with("# ");
    let lines: Vec<_> = block.lines().filter(hidden).collect();
    lines.join("\n").trim().to_owned()
}

#[test]
fn a_payload_and_a_state() {
    let item = quote!(
        pub async fn send(l: LeaseContext, db: State<Db>, p: Payload<Invoice>) {}
    );
    let expansion = expand_attribute(quote!(priority = 5, crate = rt), item);
    for part in [
        quote! {
            pub fn enqueue<'client>(client: &'client rt::Client, payload: Invoice) -> rt::Enqueue<'client> {
                client.enqueue(Self::NAME, &payload).priority(5i16)
            }
        },
        quote! {
            pub fn enqueue_many<'client>(
                client: &'client rt::Client,
                payloads: impl ::core::iter::IntoIterator<Item = Invoice>,
            ) -> rt::EnqueueMany<'client> {
                client.enqueue_many(Self::NAME, payloads).priority(5i16)
            }
        },
        quote! {
            impl rt::JobSpec<Invoice> for send {}
        },
        quote! {
            type __tasklock_parameter_0 = State<Db>;
            const _: () = if <__tasklock_parameter_0 as rt::__private::FromRun>::IS_PAYLOAD {
                ::core::panic!("the handle does not see a payload behind an alias: write `Payload<…>` itself")
            };
            type __tasklock_parameter_1 = Payload<Invoice>;
            const _: () = if !<__tasklock_parameter_1 as rt::__private::FromRun>::IS_PAYLOAD {
                ::core::panic!("this `Payload` is not that of `tasklock_runtime`: give it another name")
            };
        },
        quote!(
            rt::__private::Definition::new("send")
                .priority(5i16)
                .payload(),
        ),
        quote! {
            |run| ::std::boxed::Box::pin(async move {
                let parameter_0 = match
                    <__tasklock_parameter_0 as rt::__private::FromRun>::from_run(&run).await
                {
                    ::core::result::Result::Ok(parameter) => parameter,
                    ::core::result::Result::Err(error) => return rt::__private::refused(error),
                };
                let parameter_1 = match
                    <__tasklock_parameter_1 as rt::__private::FromRun>::from_run(&run).await
                {
                    ::core::result::Result::Ok(parameter) => parameter,
                    ::core::result::Result::Err(error) => return rt::__private::refused(error),
                };
                <() as rt::__private::IntoOutcome>::into_outcome(
                    send(
                        <LeaseContext as rt::__private::IsLease>::from_lease(run.lease().clone()),
                        parameter_0,
                        parameter_1
                    ).await
                )
            }),
            |needs| {
                <__tasklock_parameter_0 as rt::__private::FromRun>::requirements(needs);
                <__tasklock_parameter_1 as rt::__private::FromRun>::requirements(needs);
            },
        },
    ] {
        assert_contains(&expansion, &part);
    }
    assert!(!expansion.to_string().contains("fn trigger"));
}

#[test]
fn a_plain_function_runs_on_the_blocking_pool() {
    let item = quote!(
        fn send(l: LeaseContext, db: State<Db>) -> TaskResult {}
    );
    let expansion = expand_attribute(quote!(retries = 1, crate = rt), item);
    assert_contains(
        &expansion,
        &quote!(
            rt::__private::Definition::new("send")
                .retries(1u32)
                .blocking(),
        ),
    );
    assert_contains(
        &expansion,
        &quote! {
            rt::__private::blocking(move ||
                <TaskResult as rt::__private::IntoOutcome>::into_outcome(
                    send(
                        <LeaseContext as rt::__private::IsLease>::from_lease(run.lease().clone()),
                        parameter_0
                    )
                )
            ).await
        },
    );
}

/// Which methods a handle has: those of the task that it names.
#[test]
fn methods() {
    let methods = |args, item| {
        let expansion = expand_attribute(args, item).to_string();
        ["trigger", "enqueue", "enqueue_many"]
            .into_iter()
            .filter(|name| {
                let called = [format!("fn {name} ("), format!("fn {name} <")];
                called.iter().any(|called| expansion.contains(called))
            })
            .collect::<Vec<_>>()
    };
    let payload = quote!(
        async fn f(l: LeaseContext, p: Payload<u8>) {}
    );
    assert_eq!(methods(quote!(), handler()), ["trigger", "enqueue"]);
    assert_eq!(methods(quote!(after = "1s"), handler()), ["trigger"]);
    let carrying = ["enqueue", "enqueue_many"];
    assert_eq!(methods(quote!(), payload.clone()), carrying);
    // A wrong one has them all.
    let all = ["trigger", "enqueue", "enqueue_many"];
    assert_eq!(methods(quote!(every = "1s"), payload), all);
}

#[test]
fn every_option_reaches_the_definition() {
    let args = quote! {
        name = "billing.refresh", ttl = "10s", heartbeat = "1s", margin = "2s",
        renew = "progress", stall = "5m", after = "500ms",
        timeout = "1h", on_lost = "signal", retries = 3, backoff = "1s..10m", max_crashes = 2,
        concurrency = 1, queue = "slow", priority = -10, min_hold = "1m", keep = "7d",
        crate = facade::rt,
    };
    let expected = quote! {
        facade::rt::__private::Definition::new("billing.refresh")
            .ttl_nanos(10000000000u64)
            .heartbeat_nanos(1000000000u64)
            .margin_nanos(2000000000u64)
            .renew(facade::rt::__private::Renew::Progress)
            .stall_nanos(300000000000u64)
            .after_nanos(500000000u64)
            .timeout_nanos(3600000000000u64)
            .on_lost(facade::rt::__private::OnLost::Signal)
            .retries(3u32)
            .backoff_nanos(1000000000u64, 600000000000u64)
            .max_crashes(2u32)
            .concurrency(1u32)
            .queue("slow")
            .priority(-10i16)
            .min_hold_nanos(60000000000u64)
            .keep_nanos(604800000000000u64),
    };
    assert_contains(&expand_attribute(args, handler()), &expected);
    let nothing = expand_attribute(quote!(keep = "none"), handler());
    assert_contains(&nothing, &quote!(.keep_none(),));
}

#[test]
fn the_handle_has_the_functions_visibility_cfgs_and_another_name_if_told() {
    let item = quote! {
        #[cfg(feature = "x")]
        #[deprecated]
        pub(crate) async fn r#type(_: LeaseContext) {}
    };
    let expansion = expand_attribute(quote!(handle = Refresh), item);
    let allow = quote!(#[allow(non_camel_case_types, dead_code)]);
    assert_contains(&expansion, &quote!(#allow pub(crate) enum Refresh {}));
    assert_contains(
        &expansion,
        &quote!(
            const NAME: &'static str = "type";
        ),
    );
    assert_eq!(expansion.to_string().matches("feature").count(), 6);
    assert_eq!(expansion.to_string().matches("# [deprecated]").count(), 1);
}

#[test]
fn no_handle() {
    let expansion = expand_attribute(quote!(handle = false), handler()).to_string();
    assert!(!expansion.contains("enum") && expansion.contains("submit"));
}

/// What editors live on.
#[test]
fn a_wrong_attribute_keeps_the_function_and_its_handle() {
    let item = quote! {
        #[doc = "Kept."]
        async fn refresh_rates(lease: LeaseContext) -> TaskResult { lease. }
    };
    let expansion = expand_attribute(quote!(tll = "3s", handle = Rates, name = "x"), item.clone());
    assert_contains(&expansion, &item);
    assert_contains(
        &expansion,
        &quote!(
            enum Rates {}
        ),
    );
    assert_contains(
        &expansion,
        &quote!(
            pub const NAME: &'static str = "x";
        ),
    );
    assert!(!expansion.to_string().contains("submit"));
}

/// In an `impl` no enum may stand, and with a wrong path none would compile.
#[test]
fn a_handle_that_would_add_errors_is_left_out() {
    let method = quote!(
        async fn f(&self, lease: LeaseContext) {}
    );
    assert!(
        !expand_attribute(quote!(), method)
            .to_string()
            .contains("enum")
    );
    let expansion = expand_attribute(quote!(crate = 3), handler());
    assert!(!expansion.to_string().contains("enum"));
}
