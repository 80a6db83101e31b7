//! The expansion of one parameter after the lease.
//!
//! What the compiler meets several times at one place it shows once. So the user's type is written
//! once, and stands for all uses of it at one span: the last name in it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Type;

use crate::parameters::{Extractor, last_segment};

pub(crate) struct Extraction<'a> {
    extractor: &'a Extractor,
    rt: &'a TokenStream,
    /// The function's name.
    at: Span,
    /// Another name of the parameter's type.
    ty: Ident,
    /// The variable that the parameter is put in.
    pub(crate) name: Ident,
}

impl<'a> Extraction<'a> {
    pub(crate) fn of_all(extractors: &'a [Extractor], rt: &'a TokenStream, at: Span) -> Vec<Self> {
        let of = |(place, extractor): (usize, &'a Extractor)| Self {
            extractor,
            rt,
            at,
            ty: format_ident!("__tasklock_parameter_{place}", span = arrow(&extractor.ty)),
            name: format_ident!("parameter_{place}", span = at),
        };
        extractors.iter().enumerate().map(of).collect()
    }

    /// The type, and that the payload was seen where there is one and nowhere else: an alias hides
    /// it, and another type may have its name.
    pub(crate) fn items(&self) -> TokenStream {
        let Extractor { ty, payload } = self.extractor;
        let (wrong, message) = match payload {
            None => (
                None,
                "the handle does not see a payload behind an alias: write `Payload<…>` itself",
            ),
            Some(_) => (
                Some(quote!(!)),
                "this `Payload` is not that of `tasklock_runtime`: give it another name",
            ),
        };
        let is_payload = self.of_type("IS_PAYLOAD");
        let alias = &self.ty;
        // The compiler shows the place of this panic.
        let panic = quote_spanned!(alias.span()=> ::core::panic!(#message));
        quote_spanned! {self.at=>
            type #alias = #ty;
            const _: () = if #wrong #is_payload { #panic };
        }
    }

    pub(crate) fn requirements(&self) -> TokenStream {
        let requirements = self.of_type("requirements");
        quote_spanned!(self.at=> #requirements(needs);)
    }

    pub(crate) fn extracted(&self) -> TokenStream {
        let Self { rt, at, name, .. } = self;
        let from_run = self.of_type("from_run");
        let run = Ident::new("run", *at);
        let extract = quote_spanned!(self.ty.span()=> #from_run(&#run).await);
        quote_spanned! {*at=>
            let #name = match #extract {
                ::core::result::Result::Ok(parameter) => parameter,
                ::core::result::Result::Err(error) => return #rt::refused(error),
            };
        }
    }

    /// Something of the type's as a `FromRun`.
    fn of_type(&self, item: &str) -> TokenStream {
        let Self { rt, ty, .. } = self;
        let item = Ident::new(item, ty.span());
        quote_spanned!(ty.span()=> <#ty as #rt::FromRun>::#item)
    }
}

/// Where the compiler shows what is wrong with a type. Stable Rust has no span of the whole of it.
pub(crate) fn arrow(ty: &Type) -> Span {
    let first = || ty.to_token_stream().into_iter().next();
    last_segment(ty)
        .map(|segment| segment.ident.span())
        .or_else(|| first().map(|token| token.span()))
        .unwrap_or_else(Span::call_site)
}
