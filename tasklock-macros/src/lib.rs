//! The `#[locked_task]` attribute. Use it through `tasklock_runtime`, which re-exports it.

mod editor;
mod expand;
mod extraction;
mod fallback;
mod handle;
mod options;
mod parameters;
mod settings;
mod signature;
mod suggest;
#[cfg(test)]
mod tests;
mod validate;
mod value;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as TokenStream2;

use crate::options::Options;
use crate::signature::Handler;

/// Makes a function a task: across all replicas, each of its jobs runs on one of them at a time.
///
#[doc = include_str!("locked_task.md")]
///
#[doc = include_str!("how_it_works.md")]
#[proc_macro_attribute]
pub fn locked_task(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_attribute(args.into(), item.into()).into()
}

/// On `proc_macro2`'s tokens, which exist outside a compiler too.
fn expand_attribute(args: TokenStream2, item: TokenStream2) -> TokenStream2 {
    let mut errors = Vec::new();
    let options = Options::parse(args, &mut errors);
    let handler = Handler::parse(item.clone(), &mut errors);
    validate::check(&options, handler.as_ref(), &mut errors);
    match &handler {
        Some(handler) if errors.is_empty() => expand::task(&item, &options, handler),
        _ => fallback::task(&item, &options, handler.as_ref(), &errors),
    }
}
