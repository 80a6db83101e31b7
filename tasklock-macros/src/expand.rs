//! The expansion: the function as it was written, its handle, and one constant registration.
//!
//! It is data and one call. What happens with them is the runtime's business, where it is tested.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Path, parse_quote};

use crate::options::{Given, Handle, Options};
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
    let nanos = |setter: &str, option: &Option<Given<Duration>>| {
        let nanos = u64::try_from(option.as_ref()?.value.as_nanos()).ok()?;
        let setter = Ident::new(setter, Span::mixed_site());
        Some(quote! { .#setter(#nanos) })
    };
    let on_lost = options.on_lost.as_ref().map(|given| {
        let rt = runtime(options);
        let variant = format_ident!("{}", given.value);
        quote! { .on_lost(#rt::__private::OnLost::#variant) }
    });
    [
        nanos("ttl_nanos", &options.ttl),
        nanos("heartbeat_nanos", &options.heartbeat),
        nanos("margin_nanos", &options.margin),
        nanos("every_nanos", &options.every),
        nanos("after_nanos", &options.after),
        nanos("timeout_nanos", &options.timeout),
        on_lost,
    ]
    .into_iter()
    .flatten()
    .collect()
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
