//! The handle: a type that names the task where Rust code speaks of it.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::Type;

use crate::expand::{generated, name, runtime};
use crate::extraction::arrow;
use crate::options::{Handle, Options};
use crate::parameters::borrows;
use crate::signature::{Handler, mentions_impl};

pub(crate) fn handle(options: &Options, handler: &Handler) -> Option<TokenStream> {
    let mut methods = Vec::new();
    let payload = handler.parameters.payload();
    if payload.is_none() {
        methods.push(trigger(options, handler));
    }
    if options.schedule().is_none() {
        methods.push(enqueue(options, handler, payload));
        methods.extend(payload.map(|ty| enqueue_many(options, handler, ty)));
    }
    let handle = with_methods(options, handler, &methods)?;
    let spec = job_spec(options, handler, payload);
    Some(quote! { #handle #spec })
}

/// What its jobs carry.
fn job_spec(options: &Options, handler: &Handler, payload: Option<&Type>) -> Option<TokenStream> {
    let ident = ident(options, handler)?;
    let cfgs = &handler.cfgs;
    let rt = runtime(options);
    let carried = payload.map_or_else(|| quote!(()), |ty| quote!(#ty));
    Some(quote_spanned! {generated(handler)=>
        #(#cfgs)*
        #[allow(deprecated)]
        impl #rt::JobSpec<#carried> for #ident {}
    })
}

fn ident<'a>(options: &'a Options, handler: &'a Handler) -> Option<&'a Ident> {
    match &options.handle {
        None => Some(&handler.ident),
        Some(Handle::Named(ident)) => Some(ident),
        Some(Handle::Omitted) => None,
    }
}

/// The handle of a wrong task. Which methods the right one has is not known, so there are all, for
/// whoever calls them; none is ever called.
pub(crate) fn stub(options: &Options, handler: &Handler) -> Option<TokenStream> {
    let at = generated(handler);
    let rt = runtime(options);
    let payload = handler.parameters.payload().map(|ty| {
        // Neither can stand in the handle, and is an error already.
        let ty = if borrows(ty) || mentions_impl(ty) {
            quote!(impl ::core::marker::Sized)
        } else {
            quote!(#ty)
        };
        (quote_spanned!(at=> _payload: #ty), ty)
    });
    let many = payload.as_ref().map(|(_, ty)| {
        quote_spanned! {at=>
            pub fn enqueue_many<'client>(
                client: &'client #rt::Client,
                _payloads: impl ::core::iter::IntoIterator<Item = #ty>,
            ) -> #rt::EnqueueMany<'client> {
                client.enqueue_many(Self::NAME, [()])
            }
        }
    });
    let parameter = payload.map(|(parameter, _)| parameter);
    let enqueue = quote_spanned! {at=>
        pub fn enqueue<'client>(client: &'client #rt::Client, #parameter) -> #rt::Enqueue<'client> {
            client.enqueue(Self::NAME, &())
        }
    };
    let methods = [Some(trigger(options, handler)), Some(enqueue), many];
    with_methods(
        options,
        handler,
        &methods.into_iter().flatten().collect::<Vec<_>>(),
    )
}

fn with_methods(
    options: &Options,
    handler: &Handler,
    methods: &[TokenStream],
) -> Option<TokenStream> {
    let ident = ident(options, handler)?;
    let Handler { cfgs, vis, .. } = handler;
    let name = name(options, handler);
    let rt = runtime(options);
    let doc = format!("Handle of the task `{name}`.");
    // A type of the function's own signature is private or not: the function is where that is said.
    Some(quote_spanned! {generated(handler)=>
        #(#cfgs)*
        #[doc = #doc]
        #[allow(non_camel_case_types, dead_code)]
        #vis enum #ident {}

        #(#cfgs)*
        #[allow(dead_code, deprecated, private_interfaces)]
        impl #ident {
            /// The task's name in the store.
            pub const NAME: &'static str = #name;

            #(#methods)*
        }

        #(#cfgs)*
        impl #rt::TaskSpec for #ident {
            const NAME: &'static str = #name;
        }
    })
}

fn trigger(options: &Options, handler: &Handler) -> TokenStream {
    let rt = runtime(options);
    quote_spanned! {generated(handler)=>
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
}

fn enqueue(options: &Options, handler: &Handler, payload: Option<&Type>) -> TokenStream {
    let at = generated(handler);
    let rt = runtime(options);
    let mut settings = priority(options).unwrap_or_default();
    let Some(ty) = payload else {
        settings.extend(resource(options, &Ident::new("payload", at), None));
        return quote_spanned! {at=>
            /// Adds a job of this task, due at once. Nothing happens before `.await`.
            ///
            /// # Errors
            ///
            /// From `.await`: the store cannot be reached, or refuses the job.
            pub fn enqueue<'client>(client: &'client #rt::Client) -> #rt::Enqueue<'client> {
                client.enqueue(Self::NAME, &()) #settings
            }
        };
    };
    // Where it cannot be serialised, the compiler's arrow points at the user's own type.
    let arrow = arrow(ty);
    let enqueue = Ident::new("enqueue", arrow);
    let name = Ident::new("payload", arrow);
    let payload = quote_spanned!(arrow=> &#name);
    settings.extend(resource(options, &name, Some(ty)));
    quote_spanned! {at=>
        /// Adds a job of this task, due at once, that carries the payload. Nothing happens before
        /// `.await`.
        ///
        /// # Errors
        ///
        /// From `.await`: the payload cannot be serialised, or the store cannot be reached or refuses
        /// the job.
        pub fn enqueue<'client>(client: &'client #rt::Client, #name: #ty) -> #rt::Enqueue<'client> {
            client.#enqueue(Self::NAME, #payload) #settings
        }
    }
}

fn enqueue_many(options: &Options, handler: &Handler, ty: &Type) -> TokenStream {
    let rt = runtime(options);
    let priority = priority(options);
    let arrow = arrow(ty);
    let enqueue_many = Ident::new("enqueue_many", arrow);
    let at = generated(handler);
    let payloads = Ident::new("payloads", at);
    // The names first, for the payloads go into the call.
    let (names, resources) = match &options.resource {
        None => (None, None),
        Some(given) => {
            let payload = Ident::new("payload", at);
            let name = given.value.name_of(&payload, given.at);
            let names = quote_spanned! {at=>
                let #payloads: ::std::vec::Vec<#ty> = #payloads.into_iter().collect();
                let names: ::std::vec::Vec<::std::string::String> = #payloads
                    .iter()
                    .map(|#payload| { let _ = #payload; #name })
                    .collect();
            };
            (Some(names), Some(quote_spanned!(at=> .resources(names))))
        }
    };
    quote_spanned! {generated(handler)=>
        /// Adds one job for each payload, due at once. Nothing happens before `.await`.
        ///
        /// # Errors
        ///
        /// From `.await`: a payload cannot be serialised, or the store cannot be reached or refuses
        /// the jobs.
        pub fn enqueue_many<'client>(
            client: &'client #rt::Client,
            #payloads: impl ::core::iter::IntoIterator<Item = #ty>,
        ) -> #rt::EnqueueMany<'client> {
            #names
            client.#enqueue_many(Self::NAME, #payloads) #priority #resources
        }
    }
}

/// The attribute's priority, for each job that is enqueued.
fn priority(options: &Options) -> Option<TokenStream> {
    let priority = options.priority.as_ref()?.value;
    Some(quote! { .priority(#priority) })
}

/// The name of the second lease, of the payload behind a variable.
///
/// A reference wherever the name is made: the compiler then says of a wrong field the same each time, and
/// shows it once.
fn resource(options: &Options, payload: &Ident, ty: Option<&Type>) -> Option<TokenStream> {
    let given = options.resource.as_ref()?;
    let name = given.value.name_of(payload, given.at);
    let known = ty.map(|ty| quote! { let #payload: &#ty = &#payload; let _ = #payload; });
    Some(quote! { .resource({ #known #name }) })
}
