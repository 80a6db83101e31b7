//! The macro on tokens, without a compiler: what it expands to, and every message of an attribute.
//! Where the carets stand is tested in `tests/ui`.

mod expansion;
mod options;
mod parameters;
mod reference;
mod signature;
mod values;

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand_attribute;

fn handler() -> TokenStream {
    quote! {
        async fn refresh_rates(lease: LeaseContext) -> TaskResult { Ok(()) }
    }
}

/// The messages of the `compile_error!`s in an expansion.
fn messages(args: TokenStream, item: TokenStream) -> Vec<String> {
    let file = syn::parse2::<syn::File>(expand_attribute(args, item)).unwrap();
    file.items
        .into_iter()
        .filter_map(|item| match item {
            syn::Item::Macro(item) => Some(item.mac),
            _ => None,
        })
        .filter(|mac| mac.path.segments.last().unwrap().ident == "compile_error")
        .map(|mac| mac.parse_body::<syn::LitStr>().unwrap().value())
        .collect()
}

#[track_caller]
fn assert_messages(args: TokenStream, expected: &[&str]) {
    assert_eq!(messages(args, handler()), expected);
}

#[track_caller]
fn assert_item_messages(item: TokenStream, expected: &[&str]) {
    assert_eq!(messages(quote!(), item), expected);
}
