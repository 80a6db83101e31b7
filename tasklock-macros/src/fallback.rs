//! The expansion of a wrong attribute: what is wrong, and enough of the rest that nothing else is.
//!
//! The function stays, so that editors complete, rename and navigate in it; so does the handle, for
//! the code that uses it. There is no registration, whose types might add errors of their own.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Error;

use crate::editor::documentation;
use crate::handle;
use crate::options::Options;
use crate::signature::Handler;

pub(crate) fn task(
    item: &TokenStream,
    options: &Options,
    handler: Option<&Handler>,
    errors: &[Error],
) -> TokenStream {
    let errors = errors.iter().map(Error::to_compile_error);
    let handle = handler
        // A handle would look for the runtime in the wrong place.
        .filter(|_| !options.is_wrong("crate"))
        .and_then(|handler| handle::stub(options, handler));
    let documentation = handler
        .filter(|_| !options.is_wrong("crate"))
        .and_then(|handler| {
            let (cfgs, documentation) = (&handler.cfgs, documentation(options)?);
            Some(quote! { #(#cfgs)* const _: () = { #documentation }; })
        });
    quote! { #(#errors)* #item #handle #documentation }
}
