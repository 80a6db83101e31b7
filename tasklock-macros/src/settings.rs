//! What the user gave, as calls of the definition's setters.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

use crate::expand::runtime;
use crate::options::{Given, Keep, Options};

/// The setters for what the user gave. Defaults are the runtime's.
pub(crate) fn settings(options: &Options) -> TokenStream {
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
    let renew = value(&options.renew, |variant| {
        let variant = format_ident!("{variant}");
        quote! { #rt::__private::Renew::#variant }
    });
    set("renew", renew);
    set("stall_nanos", duration(&options.stall));
    set("every_nanos", duration(&options.every));
    set("after_nanos", duration(&options.after));
    set("cron", value(&options.cron, quote_value));
    set("tz", value(&options.tz, quote_value));
    set("jitter_nanos", duration(&options.jitter));
    let missed = value(&options.missed, |variant| {
        let variant = format_ident!("{variant}");
        quote! { #rt::__private::Missed::#variant }
    });
    set("missed", missed);
    set("max_missed", value(&options.max_missed, quote_value));
    set("catch_up_nanos", duration(&options.catch_up));
    set("on_start", value(&options.on_start, quote_value));
    let aliases = options.alias.as_ref().map(|names| {
        let names = names.iter().map(|name| &name.value);
        quote! { &[#(#names),*] }
    });
    set("aliases", aliases);
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
    let fixed = options
        .resource
        .as_ref()
        .and_then(|given| given.value.fixed());
    set("resource", fixed.map(|name| quote! { #name }));
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
