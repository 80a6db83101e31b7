//! What editors need of an expansion, and the compiler does not.

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand::runtime;
use crate::options::Options;

/// An import of the documentation of each option that was given, under the user's own token.
///
/// `crate` has none: no item can have this name.
pub(crate) fn documentation(options: &Options) -> Option<TokenStream> {
    let mut keys = options.keys.iter().filter(|key| *key != "crate").peekable();
    keys.peek()?;
    let keys = keys.map(|key| quote!(#key as _));
    let rt = runtime(options);
    Some(quote! {
        #[allow(unused_imports)]
        use #rt::__private::options::{#(#keys),*};
    })
}
