//! The accepted shapes of a handler: `async fn name(lease: LeaseContext, …) -> () | Result<…>`, or the
//! same without `async`.
//!
//! What the compiler can say better is left to it: the types themselves are checked in the expansion.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Result, ReturnType, Safety, Signature, Type, Visibility, parse_quote};

use crate::parameters::Parameters;

/// What the expansion needs to know of a function. Its body is never parsed.
pub(crate) struct Handler {
    /// `#[cfg]`s below the attribute: what is generated comes and goes with the function.
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    /// A plain `fn`, which blocks the thread that it runs on.
    pub(crate) blocking: bool,
    pub(crate) parameters: Parameters,
    pub(crate) returns: Type,
}

impl Handler {
    /// `None` where no handle can stand beside the item: it is not a free function.
    pub(crate) fn parse(item: TokenStream, errors: &mut Vec<Error>) -> Option<Self> {
        let read = |input: ParseStream<'_>| {
            let attrs = input.call(Attribute::parse_outer)?;
            let vis = input.parse()?;
            let sig = signature(input)?;
            let body = input.parse()?;
            Ok((attrs, vis, sig, body))
        };
        let (attrs, vis, sig, body): (_, _, Signature, TokenStream) =
            read.parse2(item).map_err(|error| errors.push(error)).ok()?;
        let is_free = check_free(&sig, &body, errors);
        check_qualifiers(&sig, errors);
        let parameters = Parameters::parse(&sig, errors);
        let returns = returns(&sig.output, errors);
        is_free.then_some(Self {
            cfgs: attrs.into_iter().filter(is_cfg).collect(),
            vis,
            ident: sig.ident,
            blocking: sig.asyncness.is_none(),
            parameters,
            returns,
        })
    }
}

/// Parses a signature, or says which other item this is.
fn signature(input: ParseStream<'_>) -> Result<Signature> {
    const ITEMS: [&str; 12] = [
        "struct",
        "enum",
        "union",
        "trait",
        "impl",
        "mod",
        "const",
        "static",
        "type",
        "use",
        "extern",
        "macro_rules",
    ];
    let first = input.cursor().ident().map(|(ident, _)| ident);
    input.parse::<Signature>().map_err(|error| match first {
        Some(first) if ITEMS.iter().any(|item| first == item) => {
            let message = "`#[locked_task]` goes on a function: write it above an \
                           `async fn name(lease: LeaseContext)`";
            Error::new(first.span(), message)
        }
        _ => error,
    })
}

fn check_free(sig: &Signature, body: &TokenStream, errors: &mut Vec<Error>) -> bool {
    if let Some(receiver) = sig.receiver() {
        let message = "a task has no `self`: write a free function outside the `impl`";
        errors.push(Error::new_spanned(receiver, message));
        return false;
    }
    let has_body = matches!(body.clone().into_iter().next(), Some(TokenTree::Group(_)));
    if !has_body {
        let message = "a task has a body: write a free function outside the `trait`";
        errors.push(Error::new(sig.ident.span(), message));
    }
    has_body
}

fn check_qualifiers(sig: &Signature, errors: &mut Vec<Error>) {
    let mut refuse = |at: &dyn ToTokens, message: &str| {
        errors.push(Error::new_spanned(at, message));
    };
    if let Some(token) = &sig.constness {
        refuse(token, "a task is not `const`: remove it");
    }
    if let Safety::Unsafe(token) = &sig.safety {
        refuse(
            token,
            "a task is not `unsafe`, the runtime calls it: remove it",
        );
    }
    if let Some(abi) = &sig.abi {
        refuse(abi, "a task is not `extern`: remove it");
    }
    if !sig.generics.params.is_empty() {
        let message = "a task is not generic, it is registered once: write the types themselves";
        refuse(&sig.generics.params, message);
    }
    if let Some(clause) = &sig.generics.where_clause {
        refuse(clause, "a task has no `where` clause: remove it");
    }
    if let Some(variadic) = &sig.variadic {
        refuse(variadic, "a task is not variadic: remove this");
    }
}

/// The type that the function returns, `()` where it says none.
fn returns(output: &ReturnType, errors: &mut Vec<Error>) -> Type {
    let ReturnType::Type(_, ty) = output else {
        return parse_quote!(());
    };
    // Neither can be named again in the expansion.
    if mentions_impl(ty) || matches!(**ty, Type::Never(_) | Type::Infer(_)) {
        let message = "a task returns nothing or a `Result<(), E>`: write `-> TaskResult`";
        errors.push(Error::new_spanned(ty, message));
    }
    (**ty).clone()
}

/// Whether `impl Trait` stands anywhere in a type.
pub(crate) fn mentions_impl(ty: &Type) -> bool {
    fn in_tokens(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == "impl",
            TokenTree::Group(group) => in_tokens(group.stream()),
            _ => false,
        })
    }
    in_tokens(ty.to_token_stream())
}

pub(crate) fn is_cfg(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg")
}
