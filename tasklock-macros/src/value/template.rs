//! A name that is made of the payload's fields: `"invoice:{invoice}"`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parse;
use syn::{Error, Index, Result};
use tasklock_grammar::{MAX_NAME_BYTES, check_name};

use super::{Value, quote_if, within};
use crate::options::Given;

pub(crate) struct Template {
    parts: Vec<Part>,
}

enum Part {
    Text(String),
    /// A field of a field of the payload; none: the payload itself.
    Field(Vec<Member>),
}

enum Member {
    Named(String),
    Nth(u32),
}

impl Value<'_> {
    pub(crate) fn template(&self) -> Result<Given<Template>> {
        let literal = self.text(|value| quote_if(value, |text| parse(text).is_ok()))?;
        let text = literal.value();
        let template =
            parse(&text).map_err(|(part, message)| within(&literal, &text, part, &message))?;
        Ok(self.given(template, &literal))
    }
}

impl Template {
    /// The name, where it is the same for every payload.
    pub(crate) fn fixed(&self) -> Option<String> {
        let text = |part: &Part| match part {
            Part::Text(text) => Some(text.clone()),
            Part::Field(_) => None,
        };
        self.parts.iter().map(text).collect()
    }

    /// An expression that is the name, of the payload behind a variable. What is wrong with a field the compiler
    /// shows at the literal.
    pub(crate) fn name_of(&self, payload: &Ident, at: Span) -> TokenStream {
        let payload = Ident::new(&payload.to_string(), payload.span().located_at(at));
        let mut format = String::new();
        let mut fields = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => format.push_str(&text.replace('{', "{{").replace('}', "}}")),
                Part::Field(members) => {
                    format.push_str("{}");
                    let members = members.iter().map(|member| member.tokens(at));
                    let dot = quote_spanned!(at=> .);
                    fields.push(quote!(#payload #(#dot #members)*));
                }
            }
        }
        quote_spanned!(at=> ::std::format!(#format #(, #fields)*))
    }
}

impl Member {
    fn tokens(&self, at: Span) -> TokenStream {
        match self {
            Self::Named(name) => {
                // As if it came from elsewhere: else the compiler proposes a similar field in place of the
                // whole literal.
                let at = Span::call_site().located_at(at);
                match name.strip_prefix("r#") {
                    Some(raw) => Ident::new_raw(raw, at),
                    None => Ident::new(name, at),
                }
                .into_token_stream()
            }
            Self::Nth(index) => {
                let index = Index {
                    index: *index,
                    span: at,
                };
                quote!(#index)
            }
        }
    }
}

type Mistake = (std::ops::Range<usize>, String);

fn parse(text: &str) -> std::result::Result<Template, Mistake> {
    let whole = |message: String| (0..text.len(), message);
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let start = text.len() - rest.len() + at;
        plain.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        let after = &rest[at + 1..];
        if after.starts_with(brace) {
            plain.push_str(brace);
            rest = &after[1..];
            continue;
        }
        let end = after.find('}').filter(|_| brace == "{");
        let Some(end) = end else {
            let message = format!(
                "this brace has no other: write a field of the payload as `{{invoice}}`, and a brace as `{brace}{brace}`"
            );
            return Err((start..start + 1, message));
        };
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        let field = &after[..end];
        let members = members(field).ok_or_else(|| {
            let message = "a field of the payload is written as in `{invoice}`, `{customer.id}` or `{0}`, and the whole \
                           payload as `{}`; it is shown by its `Display`, and takes no format"
                .to_owned();
            (start..start + end + 2, message)
        })?;
        parts.push(Part::Field(members));
        rest = &after[end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    let template = Template { parts };
    // What does not depend on the payload is known to be wrong by now.
    let sample = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Field(_) => "x".to_owned(),
    };
    let sample: String = template.parts.iter().map(sample).collect();
    match check_name(&sample) {
        Ok(()) => Ok(template),
        Err(_) if template.fixed().is_none() && sample.len() > MAX_NAME_BYTES => {
            Err(whole(format!(
                "a name has at most {MAX_NAME_BYTES} bytes, and this one has more whatever the payload is: shorten it"
            )))
        }
        Err(error) => Err(whole(
            error
                .to_string()
                .replace("\"billing.refresh\"", "\"invoice:{invoice}\""),
        )),
    }
}

fn members(field: &str) -> Option<Vec<Member>> {
    if field.is_empty() {
        return Some(Vec::new());
    }
    let member = |name: &str| {
        if let Ok(index) = name.parse() {
            return Some(Member::Nth(index)).filter(|_| !name.starts_with('+'));
        }
        let parser = |input: syn::parse::ParseStream<'_>| Ident::parse(input);
        let ident = syn::parse::Parser::parse_str(parser, name).ok()?;
        (ident == name).then(|| Member::Named(name.to_owned()))
    };
    field.split('.').map(member).collect()
}

/// A mistake of the whole option.
pub(crate) fn needs_payload(given: &Given<Template>, message: &str) -> Option<Error> {
    given
        .value
        .fixed()
        .is_none()
        .then(|| Error::new(given.at, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> String {
        let template = parse(text).unwrap_or_else(|(_, message)| panic!("{text:?}: {message}"));
        let payload = Ident::new("payload", Span::call_site());
        template.name_of(&payload, Span::call_site()).to_string()
    }

    /// The part of the text that a mistake is shown under.
    fn wrong(text: &str) -> Option<&str> {
        let (part, _) = parse(text).err()?;
        Some(&text[part])
    }

    #[test]
    fn fields_become_arguments() {
        for (text, format, fields) in [
            ("ledger", "ledger", &[][..]),
            ("invoice:{invoice}", "invoice:{}", &["payload . invoice"]),
            ("{0}-{1.id}", "{}-{}", &["payload . 0", "payload . 1 . id"]),
            ("{customer.id}", "{}", &["payload . customer . id"]),
            ("{}", "{}", &["payload"]),
            ("{{{a}}} {{b}}", "{{{}}} {{b}}", &["payload . a"]),
            ("{r#type}", "{}", &["payload . r#type"]),
        ] {
            let fields: String = fields.iter().map(|field| format!(" , {field}")).collect();
            let expected = format!(":: std :: format ! ({format:?}{fields})");
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        for (text, part) in [
            ("invoice:{invoice", "{"),
            ("invoice}:{id}", "}"),
            ("a {{b}", "}"),
            ("{a:04}", "{a:04}"),
            ("x{a + 1}y", "{a + 1}"),
            ("{a.}", "{a.}"),
            ("{ a }", "{ a }"),
            ("{+1}", "{+1}"),
            ("{type}", "{type}"),
            ("{{a} {b}", "}"),
            ("", ""),
            (" {a}", " {a}"),
            ("a\u{7}{a}", "a\u{7}{a}"),
        ] {
            assert_eq!(wrong(text), Some(part), "{text}");
        }
    }

    #[test]
    fn a_name_that_fits_with_short_fields_is_taken() {
        let text = |bytes: usize| format!("{}{{a}}", "x".repeat(bytes));
        assert_eq!(wrong(&text(MAX_NAME_BYTES - 1)), None);
        assert!(wrong(&text(MAX_NAME_BYTES)).is_some());
        assert_eq!(wrong(&"x".repeat(MAX_NAME_BYTES)), None);
        assert!(wrong(&"x".repeat(MAX_NAME_BYTES + 1)).is_some());
    }

    #[test]
    fn only_a_name_without_fields_is_the_same_for_every_payload() {
        let fixed = |text: &str| parse(text).ok().and_then(|template| template.fixed());
        assert_eq!(fixed("{{ledger}}").as_deref(), Some("{ledger}"));
        assert_eq!(fixed("{}"), None);
    }
}
