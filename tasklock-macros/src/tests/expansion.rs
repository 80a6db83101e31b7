//! What a right and a wrong attribute expand to.

use proc_macro2::TokenStream;
use quote::quote;

use super::handler;
use crate::expand_attribute;

#[track_caller]
fn assert_contains(expansion: &TokenStream, part: &TokenStream) {
    let (expansion, part) = (expansion.to_string(), part.to_string());
    assert!(expansion.contains(&part), "{part}\nis not in\n{expansion}");
}

#[test]
fn the_whole_expansion() {
    let args = quote!(ttl = "30s", heartbeat = "10s", every = "5s");
    let expected = quote! {
        async fn refresh_rates(lease: LeaseContext) -> TaskResult { Ok(()) }

        #[doc = "Handle of the task `refresh_rates`."]
        #[allow(non_camel_case_types, dead_code)]
        enum refresh_rates {}

        #[allow(dead_code)]
        impl refresh_rates {
            /// The task's name in the store.
            pub const NAME: &'static str = "refresh_rates";

            /// Makes the task due now.
            ///
            /// # Errors
            ///
            /// The store cannot be reached, or does not know the task yet.
            pub async fn trigger(
                client: &::tasklock_runtime::Client,
            ) -> ::core::result::Result<::tasklock_runtime::Triggered, ::tasklock_runtime::Error> {
                client.trigger(Self::NAME).await
            }
        }

        impl ::tasklock_runtime::TaskSpec for refresh_rates {
            const NAME: &'static str = "refresh_rates";
        }

        #[allow(deprecated)]
        const _: () = {
            ::tasklock_runtime::__private::inventory::submit! {
                ::tasklock_runtime::__private::Registration::new(
                    ::tasklock_runtime::__private::Definition::new("refresh_rates")
                        .ttl_nanos(30000000000u64)
                        .heartbeat_nanos(10000000000u64)
                        .every_nanos(5000000000u64),
                    ::tasklock_runtime::__private::Location::new(
                        ::core::module_path!(),
                        ::core::file!(),
                        ::core::line!(),
                    ),
                    |run| ::std::boxed::Box::pin(async move {
                        <TaskResult as ::tasklock_runtime::__private::IntoOutcome>::into_outcome(
                            refresh_rates(
                                <LeaseContext as ::tasklock_runtime::__private::IsLease>
                                    ::from_lease(run.lease().clone())
                            ).await
                        )
                    }),
                    |_| {},
                )
            }
        };
    };
    assert_eq!(
        expand_attribute(args, handler()).to_string(),
        expected.to_string()
    );
}

#[test]
fn every_option_reaches_the_definition() {
    let args = quote! {
        name = "billing.refresh", ttl = "10s", heartbeat = "1s", margin = "2s", after = "500ms",
        timeout = "1h", on_lost = "signal", retries = 3, backoff = "1s..10m", max_crashes = 2,
        concurrency = 1, queue = "slow", priority = -10, min_hold = "1m", keep = "7d",
        crate = facade::rt,
    };
    let expected = quote! {
        facade::rt::__private::Definition::new("billing.refresh")
            .ttl_nanos(10000000000u64)
            .heartbeat_nanos(1000000000u64)
            .margin_nanos(2000000000u64)
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
    assert_eq!(expansion.to_string().matches("feature").count(), 5);
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
