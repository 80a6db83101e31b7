//! The expansion: the function as it was written, its handle, and one constant registration.
//!
//! It is data and one call. What happens with them is the runtime's business, where it is tested.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Path, parse_quote};

use crate::options::{Given, Handle, Keep, Options};
use crate::signature::Handler;

pub(crate) fn task(item: &TokenStream, options: &Options, handler: &Handler) -> TokenStream {
    let handle = handle(options, handler);
    let registration = registration(options, handler);
    quote! { #item #handle #registration }
}

/// A type that names the task where Rust code speaks of it.
pub(crate) fn handle(options: &Options, handler: &Handler) -> Option<TokenStream> {
    let ident = match &options.handle {
        None => &handler.ident,
        Some(Handle::Named(ident)) => ident,
        Some(Handle::Omitted) => return None,
    };
    let Handler { cfgs, vis, .. } = handler;
    let name = name(options, handler);
    let rt = runtime(options);
    let doc = format!("Handle of the task `{name}`.");
    Some(quote_spanned! {generated(handler)=>
        #(#cfgs)*
        #[doc = #doc]
        #[allow(non_camel_case_types, dead_code)]
        #vis enum #ident {}

        #(#cfgs)*
        #[allow(dead_code)]
        impl #ident {
            /// The task's name in the store.
            pub const NAME: &'static str = #name;

            /// Makes the task due now.
            ///
            /// # Errors
            ///
            /// The store cannot be reached, or does not know the task yet.
            pub async fn trigger(
                client: &#rt::Client,
            ) -> ::core::result::Result<#rt::Triggered, #rt::Error> {
                client.trigger(Self::NAME).await
            }
        }

        #(#cfgs)*
        impl #rt::TaskSpec for #ident {
            const NAME: &'static str = #name;
        }
    })
}

fn registration(options: &Options, handler: &Handler) -> TokenStream {
    let Handler {
        cfgs,
        ident,
        parameters,
        returns,
        ..
    } = handler;
    let name = name(options, handler);
    let settings = settings(options);
    let at = generated(handler);
    let runtime = runtime(options);
    let rt = quote_spanned!(at=> #runtime::__private);
    // The user's own types, so that the compiler's arrows point at them.
    let lease = parameters
        .iter()
        .map(|ty| quote_spanned!(at=> <#ty as #rt::IsLease>::from_lease(run.lease().clone())));
    quote_spanned! {at=>
        #(#cfgs)*
        #[allow(deprecated)]
        const _: () = {
            #rt::inventory::submit! {
                #rt::Registration::new(
                    #rt::Definition::new(#name) #settings,
                    #rt::Location::new(
                        ::core::module_path!(),
                        ::core::file!(),
                        ::core::line!(),
                    ),
                    |run| ::std::boxed::Box::pin(async move {
                        <#returns as #rt::IntoOutcome>::into_outcome(#ident(#(#lease),*).await)
                    }),
                    |_| {},
                )
            }
        };
    }
}

/// The setters for what the user gave. Defaults are the runtime's.
fn settings(options: &Options) -> TokenStream {
    let rt = runtime(options);
    let mut setters = TokenStream::new();
    let mut set = |setter: &str, values: Option<TokenStream>| {
        let setter = Ident::new(setter, Span::mixed_site());
        setters.extend(values.map(|values| quote! { .#setter(#values) }));
    };
    let duration = |given: &Option<Given<Duration>>| value(given, |given| nanos(*given));
    set("ttl_nanos", duration(&options.ttl));
    set("heartbeat_nanos", duration(&options.heartbeat));
    set("margin_nanos", duration(&options.margin));
    set("every_nanos", duration(&options.every));
    set("after_nanos", duration(&options.after));
    set("timeout_nanos", duration(&options.timeout));
    let on_lost = value(&options.on_lost, |variant| {
        let variant = format_ident!("{variant}");
        quote! { #rt::__private::OnLost::#variant }
    });
    set("on_lost", on_lost);
    set("retries", value(&options.retries, quote_value));
    let backoff = value(&options.backoff, |(least, most)| {
        let (least, most) = (nanos(*least), nanos(*most));
        quote! { #least, #most }
    });
    set("backoff_nanos", backoff);
    set("max_crashes", value(&options.max_crashes, quote_value));
    set("concurrency", value(&options.concurrency, quote_value));
    set("queue", value(&options.queue, quote_value));
    set("priority", value(&options.priority, quote_value));
    set("min_hold_nanos", duration(&options.min_hold));
    match options.keep.as_ref().map(|given| &given.value) {
        Some(Keep::For(time)) => set("keep_nanos", Some(nanos(*time))),
        Some(Keep::Nothing) => set("keep_none", Some(TokenStream::new())),
        None => {}
    }
    setters
}

/// What the user gave, as tokens.
fn value<T>(given: &Option<Given<T>>, tokens: impl Fn(&T) -> TokenStream) -> Option<TokenStream> {
    given.as_ref().map(|given| tokens(&given.value))
}

fn quote_value(value: &impl ToTokens) -> TokenStream {
    value.to_token_stream()
}

/// No option is longer than the grammar allows, and that fits.
fn nanos(duration: Duration) -> TokenStream {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    quote! { #nanos }
}

/// The task's name in the store.
fn name(options: &Options, handler: &Handler) -> String {
    match &options.name {
        Some(given) => given.value.clone(),
        None => handler.ident.unraw().to_string(),
    }
}

fn runtime(options: &Options) -> Path {
    let default = || parse_quote!(::tasklock_runtime);
    options.krate.clone().unwrap_or_else(default)
}

/// Where the compiler says that an error in generated code is: at the function's name.
fn generated(handler: &Handler) -> Span {
    handler.ident.span().resolved_at(Span::mixed_site())
}
