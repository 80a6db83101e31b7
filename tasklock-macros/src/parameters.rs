//! A handler's parameters: its lease, then what the runtime makes for each run, in any order.
//!
//! Which of them is the payload has to be seen here, by its name: the handle is written for its type.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Error, FnArg, GenericArgument, Pat, PatType, PathArguments, PathSegment, Signature, Type,
};

use crate::signature::{is_cfg, mentions_impl};

#[derive(Default)]
pub(crate) struct Parameters {
    /// Missing only beside an error.
    pub(crate) lease: Option<Type>,
    pub(crate) extractors: Vec<Extractor>,
}

/// A parameter after the lease.
pub(crate) struct Extractor {
    pub(crate) ty: Type,
    /// The `T` of a `Payload<T>`.
    pub(crate) payload: Option<Type>,
}

impl Parameters {
    pub(crate) fn parse(sig: &Signature, errors: &mut Vec<Error>) -> Self {
        let typed = sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => Some(typed),
            FnArg::Receiver(_) => None,
        });
        let mut typed: Vec<&PatType> = typed.collect();
        if sig.inputs.is_empty() {
            let message = "the lease is missing: write `(lease: LeaseContext)`";
            errors.push(Error::new(sig.paren_token.span.join(), message));
        }
        let lease = lease(&typed, errors).map(|place| typed.remove(place));
        if let Some(parameter) = lease {
            check(parameter, true, errors);
        }
        for parameter in &typed {
            check(parameter, false, errors);
        }
        let parameters = Self {
            lease: lease.map(|parameter| (*parameter.ty).clone()),
            extractors: typed.into_iter().map(Extractor::of).collect(),
        };
        parameters.check_payloads(errors);
        parameters
    }

    /// What a job of this task carries.
    pub(crate) fn payload(&self) -> Option<&Type> {
        self.extractors
            .iter()
            .find_map(|extractor| extractor.payload.as_ref())
    }

    /// At most one, and owned: it is written in the handle, and outlives what it is read from.
    fn check_payloads(&self, errors: &mut Vec<Error>) {
        let payloads = self.extractors.iter().filter_map(|extractor| {
            let payload = extractor.payload.as_ref()?;
            Some((&extractor.ty, payload))
        });
        for (place, (ty, payload)) in payloads.enumerate() {
            if place > 0 {
                let message = "a task has one payload: put both into one struct";
                errors.push(Error::new_spanned(ty, message));
            }
            if borrows(payload) {
                let message =
                    "a payload owns its data: write an owned type, such as `String` for `&str`";
                errors.push(Error::new_spanned(payload, message));
            }
        }
    }
}

impl Extractor {
    fn of(parameter: &PatType) -> Self {
        let ty = (*parameter.ty).clone();
        let payload = last_segment(&ty)
            .filter(|last| last.ident == "Payload")
            .and_then(only_type);
        Self {
            payload: payload.cloned(),
            ty,
        }
    }
}

/// The place of the lease: where its type stands, or else the first, where an alias may stand.
fn lease(typed: &[&PatType], errors: &mut Vec<Error>) -> Option<usize> {
    let names = |parameter: &PatType, names: &[&str]| {
        let last = last_segment(&parameter.ty);
        last.is_some_and(|last| names.iter().any(|name| last.ident == name))
    };
    let mut leases = (0..typed.len()).filter(|place| names(typed[*place], &["LeaseContext"]));
    let Some(place) = leases.next() else {
        let first = typed.first()?;
        if names(first, &["Payload", "State"]) {
            let message = "the lease is missing: write `lease: LeaseContext` before this";
            errors.push(Error::new_spanned(first, message));
            return None;
        }
        return Some(0);
    };
    if place > 0 {
        let message = "the lease comes first: move this before the other parameters";
        errors.push(Error::new_spanned(typed[place], message));
    }
    for further in leases {
        let message = "a task has one lease: remove this";
        errors.push(Error::new_spanned(typed[further], message));
    }
    Some(place)
}

/// The name of a type, whatever is around it.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Paren(inner) => last_segment(&inner.elem),
        Type::Group(inner) => last_segment(&inner.elem),
        Type::Reference(inner) => last_segment(&inner.elem),
        _ => None,
    }
}

/// The `T` of `Payload<T>`. Where there is another number of them, the compiler says so.
fn only_type(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    let mut arguments = arguments.args.iter();
    match (arguments.next(), arguments.next()) {
        (Some(GenericArgument::Type(ty)), None) => Some(ty),
        _ => None,
    }
}

fn check(parameter: &PatType, is_lease: bool, errors: &mut Vec<Error>) {
    for cfg in parameter.attrs.iter().filter(|attr| is_cfg(attr)) {
        let message = "a task's parameter has no `#[cfg]`: put it on the whole function";
        errors.push(Error::new_spanned(cfg, message));
    }
    if let Some(error) = pattern(&parameter.pat, is_lease) {
        errors.push(error);
    }
    let wrong = match (&*parameter.ty, is_lease) {
        (Type::Reference(_), true) => "a task owns its lease: write `LeaseContext` without `&`",
        (Type::Reference(_), false) => "a task owns its parameters: write the type without `&`",
        (ty, true) if mentions_impl(ty) => {
            "a task's parameter is a named type: write `LeaseContext`"
        }
        (ty, false) if mentions_impl(ty) => {
            "a task's parameter is a named type: write `State<…>` or `Payload<…>`"
        }
        (Type::Path(_) | Type::Macro(_) | Type::Group(_) | Type::Paren(_), _) => return,
        (_, true) => "a task's first parameter is its lease: write `LeaseContext`",
        (_, false) => {
            "a task's parameter is a named type: write `State<…>` or `Payload<…>` around it"
        }
    };
    errors.push(Error::new_spanned(&parameter.ty, wrong));
}

/// A name, or `_`.
fn pattern(pat: &Pat, is_lease: bool) -> Option<Error> {
    match pat {
        Pat::Wild(_) => return None,
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => return None,
        _ => {}
    }
    let message = match pat {
        _ if is_lease => {
            "a task's parameter has a plain name: write `lease: LeaseContext`".to_owned()
        }
        // As other frameworks have it: `State(db): State<Db>`.
        Pat::TupleStruct(tuple) if matches!(tuple.elems.first(), Some(Pat::Ident(_))) => {
            let name = tuple.elems.first().to_token_stream();
            format!(
                "a task's parameter has a plain name: write `{name}`, which derefs to its value"
            )
        }
        _ => "a task's parameter has a plain name: write one such as `payload`".to_owned(),
    };
    Some(Error::new_spanned(pat, message))
}

/// Whether a type has a reference in it, or a lifetime that is not `'static`.
pub(crate) fn borrows(ty: &Type) -> bool {
    borrow_in(ty.to_token_stream())
}

fn borrow_in(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let borrows = match token {
            TokenTree::Punct(punct) if punct.as_char() == '&' => true,
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                !matches!(tokens.peek(), Some(TokenTree::Ident(name)) if name == "static")
            }
            TokenTree::Group(group) => borrow_in(group.stream()),
            _ => false,
        };
        if borrows {
            return true;
        }
    }
    false
}
