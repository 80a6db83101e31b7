//! The expansion: the function as it was written, its handle, and one constant registration.
//!
//! It is data and one call. What happens with them is the runtime's business, where it is tested.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Path, parse_quote};

use crate::editor::documentation;
use crate::extraction::Extraction;
use crate::handle::handle;
use crate::options::Options;
use crate::settings::settings;
use crate::signature::Handler;

pub(crate) fn task(item: &TokenStream, options: &Options, handler: &Handler) -> TokenStream {
    let handle = handle(options, handler);
    let registration = registration(options, handler);
    quote! { #item #handle #registration }
}

fn registration(options: &Options, handler: &Handler) -> TokenStream {
    let cfgs = &handler.cfgs;
    let name = name(options, handler);
    let settings = settings(options);
    let blocking = handler.blocking.then(|| quote! { .blocking() });
    let payload = handler.parameters.payload().map(|_| quote! { .payload() });
    let at = generated(handler);
    let rt = private(options, at);
    let extractions = Extraction::of_all(&handler.parameters.extractors, &rt, at);
    let items = extractions.iter().map(Extraction::items);
    let requirements = extractions.iter().map(Extraction::requirements);
    let run = run(handler, &extractions, &rt);
    let needing = needing(options, handler, &rt);
    let documentation = documentation(options);
    quote_spanned! {at=>
        #(#cfgs)*
        #[allow(deprecated, non_camel_case_types)]
        const _: () = {
            #documentation
            #(#items)*
            #rt::inventory::submit! {
                #rt::Registration::new(
                    #rt::Definition::new(#name) #settings #blocking #payload,
                    #rt::Location::new(
                        ::core::module_path!(),
                        ::core::file!(),
                        ::core::line!(),
                    ),
                    |run| ::std::boxed::Box::pin(async move { #run }),
                    |needs| { #(#requirements)* },
                ) #needing
            }
        };
    }
}

/// The name of the second lease, where it depends on the payload: for jobs that were enqueued without it.
fn needing(options: &Options, handler: &Handler, rt: &TokenStream) -> Option<TokenStream> {
    let given = options.resource.as_ref()?;
    let at = generated(handler);
    let payload = Ident::new("payload", at);
    let name = given.value.name_of(&payload, given.at);
    let known = match (given.value.fixed(), handler.parameters.payload()) {
        (None, Some(ty)) => quote_spanned!(at=> let #payload: &#ty = &#rt::payload_of(json)?;),
        _ => TokenStream::new(),
    };
    let json = Ident::new("json", at);
    Some(quote_spanned! {at=>
        .needing(|#json| {
            let _ = #json;
            #known
            ::core::result::Result::Ok(#name)
        })
    })
}

/// One run: its parameters, then the call of the function.
fn run(handler: &Handler, extractions: &[Extraction<'_>], rt: &TokenStream) -> TokenStream {
    let Handler { ident, returns, .. } = handler;
    let at = generated(handler);
    // The user's own types, so that the compiler's arrows point at them.
    let lease = handler
        .parameters
        .lease
        .iter()
        .map(|ty| quote_spanned!(at=> <#ty as #rt::IsLease>::from_lease(run.lease().clone())));
    let extracted = extractions.iter().map(Extraction::extracted);
    let names = extractions.iter().map(|extraction| &extraction.name);
    let call = quote_spanned!(at=> #ident(#(#lease)* #(, #names)*));
    let outcome = if handler.blocking {
        quote_spanned! {at=>
            #rt::blocking(move || <#returns as #rt::IntoOutcome>::into_outcome(#call)).await
        }
    } else {
        quote_spanned!(at=> <#returns as #rt::IntoOutcome>::into_outcome(#call.await))
    };
    quote! { #(#extracted)* #outcome }
}

fn private(options: &Options, at: Span) -> TokenStream {
    let runtime = runtime(options);
    quote_spanned!(at=> #runtime::__private)
}

/// The task's name in the store.
pub(crate) fn name(options: &Options, handler: &Handler) -> String {
    match &options.name {
        Some(given) => given.value.clone(),
        None => handler.ident.unraw().to_string(),
    }
}

pub(crate) fn runtime(options: &Options) -> Path {
    let default = || parse_quote!(::tasklock_runtime);
    options.krate.clone().unwrap_or_else(default)
}

/// Where the compiler says that an error in generated code is: at the function's name.
pub(crate) fn generated(handler: &Handler) -> Span {
    handler.ident.span().resolved_at(Span::mixed_site())
}
