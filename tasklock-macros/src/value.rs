//! One option's value: what it must look like, and what to write if it does not.

mod number;
mod schedule;
pub(crate) mod template;

use std::fmt::Display;
use std::ops::Range;
use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Error, LitBool, LitStr, Path, Result, Token};
use tasklock_grammar::{DurationError, check_name, parse_backoff, parse_duration};

use crate::options::{Given, Handle, Keep};
use crate::suggest::did_you_mean;

/// The tokens after `key =`.
pub(crate) struct Value<'a> {
    key: &'a Ident,
    example: &'static str,
    input: ParseStream<'a>,
}

impl<'a> Value<'a> {
    /// Steps over the `=`.
    pub(crate) fn new(
        key: &'a Ident,
        example: &'static str,
        input: ParseStream<'a>,
    ) -> Result<Self> {
        let value = Self {
            key,
            example,
            input,
        };
        let equals = input.parse::<Option<Token![=]>>()?;
        let needs = if input.is_empty() || input.peek(Token![,]) {
            "a value"
        } else if equals.is_none() {
            "a `=`"
        } else {
            return Ok(value);
        };
        let message = format!("`{key}` needs {needs}: {}", value.write(example));
        Err(Error::new(key.span(), message))
    }

    pub(crate) fn duration(&self) -> Result<Given<Duration>> {
        let literal = self.text(|value| quote_if(value, |text| parse_duration(text).is_ok()))?;
        self.read(&literal, parse_duration)
    }

    /// The shortest and the longest delay.
    pub(crate) fn backoff(&self) -> Result<Given<(Duration, Duration)>> {
        let literal = self.text(|value| {
            let compact = value.replace(char::is_whitespace, "");
            quote_if(&compact, |text| parse_backoff(text).is_ok())
        })?;
        self.read(&literal, parse_backoff)
    }

    /// `"none"`, for which people write many other things, or a duration.
    pub(crate) fn keep(&self) -> Result<Given<Keep>> {
        const NONE: &str = "none";
        let is_nothing = |text: &str| {
            did_you_mean(text, [NONE]).is_some()
                || text.contains('0') && text.chars().all(|c| c == '0' || c.is_alphabetic())
        };
        let literal = self.text(|value| {
            if is_nothing(value) || value == "false" {
                return Some(format!("{NONE:?}"));
            }
            quote_if(value, |text| parse_duration(text).is_ok())
        })?;
        let text = literal.value();
        if text == NONE {
            return Ok(self.given(Keep::Nothing, &literal));
        }
        let message = if is_nothing(&text) {
            format!("there is no keep {text:?}: write {NONE:?} to keep nothing")
        } else if !text.is_empty() && text.chars().all(char::is_alphabetic) {
            let example = self.example;
            format!("there is no keep {text:?}: write a duration such as {example}, or {NONE:?}")
        } else {
            return self.read(&literal, |text| parse_duration(text).map(Keep::For));
        };
        Err(Error::new(literal.span(), message))
    }

    pub(crate) fn name(&self) -> Result<Given<String>> {
        let literal = self.text(|value| {
            quote_if(value, |text| {
                check_name(text).is_ok() && !text.contains('"')
            })
        })?;
        let name = literal.value();
        check_name(&name).map_err(|error| Error::new(literal.span(), error))?;
        Ok(self.given(name, &literal))
    }

    /// The name of something else than a task.
    pub(crate) fn queue(&self) -> Result<Given<String>> {
        self.name().map_err(|error| {
            // The example in that message is a task's.
            let message = error
                .to_string()
                .replace("\"billing.refresh\"", self.example);
            Error::new(error.span(), message)
        })
    }

    /// One of several words, each with what it stands for.
    pub(crate) fn one_of(
        &self,
        words: &[(&'static str, &'static str)],
    ) -> Result<Given<&'static str>> {
        let find = |text: &str| words.iter().find(|(word, _)| *word == text);
        let literal = self.text(|value| quote_if(value, |text| find(text).is_some()))?;
        let text = literal.value();
        if let Some((_, meaning)) = find(&text) {
            return Ok(self.given(*meaning, &literal));
        }
        let key = self.key;
        let message = if let Some(near) = did_you_mean(&text, words.iter().map(|(word, _)| *word)) {
            format!("there is no {key} {text:?}: did you mean {near:?}?")
        } else {
            let all = words.iter().map(|(word, _)| format!("{word:?}"));
            let all = all.collect::<Vec<_>>().join(", ");
            format!("there is no {key} {text:?}: write one of {all}")
        };
        Err(Error::new(literal.span(), message))
    }

    pub(crate) fn path(&self) -> Result<Path> {
        let fork = self.input.fork();
        let path = fork
            .call(Path::parse_mod_style)
            .map_err(|_| self.wrong_type("a path without quotes", unquoted))?;
        self.input.advance_to(&fork);
        Ok(path)
    }

    pub(crate) fn handle(&self) -> Result<Handle> {
        let fork = self.input.fork();
        let handle = if let Ok(flag) = fork.parse::<LitBool>() {
            if flag.value {
                let message =
                    "a handle with the function's name is the default: remove this option";
                return Err(Error::new(flag.span, message));
            }
            Handle::Omitted
        } else {
            let what = "a type's name without quotes, or false";
            let name = fork.parse().map_err(|_| self.wrong_type(what, unquoted))?;
            Handle::Named(name)
        };
        self.input.advance_to(&fork);
        Ok(handle)
    }

    /// A string literal. Where there is something else, `repair` makes of it what to write.
    fn text(&self, repair: impl Fn(&str) -> Option<String>) -> Result<LitStr> {
        let fork = self.input.fork();
        match fork.parse::<LitStr>() {
            Ok(literal) if literal.suffix().is_empty() => {
                self.input.advance_to(&fork);
                Ok(literal)
            }
            _ => Err(self.wrong_type("text in quotes", repair)),
        }
    }

    /// What the grammar makes of a literal.
    fn read<T>(
        &self,
        literal: &LitStr,
        grammar: impl Fn(&str) -> std::result::Result<T, DurationError>,
    ) -> Result<Given<T>> {
        let text = literal.value();
        grammar(&text)
            .map(|value| self.given(value, literal))
            .map_err(|error| within(literal, &text, error.range(), error.message()))
    }

    /// The value is of another type. `repair` makes of the user's own text what to write.
    fn wrong_type(&self, what: &str, repair: impl Fn(&str) -> Option<String>) -> Error {
        let value = value_tokens(&self.input.fork());
        let instead = repair(&value.to_string()).unwrap_or_else(|| self.example.to_owned());
        let message = format!("`{}` takes {what}: {}", self.key, self.write(&instead));
        Error::new_spanned(value, message)
    }

    fn write(&self, value: &str) -> impl Display {
        format!("write `{} = {value}`", self.key)
    }

    fn given<T>(&self, value: T, literal: &LitStr) -> Given<T> {
        self.given_at(value, literal.span())
    }

    fn given_at<T>(&self, value: T, at: Span) -> Given<T> {
        Given {
            value,
            key: self.key.span(),
            at,
        }
    }
}

/// Text that somebody wrote without quotes.
fn quote_if(value: &str, accepts: impl Fn(&str) -> bool) -> Option<String> {
    // For a number alone, seconds are the best guess.
    let text = [value.to_owned(), format!("{value}s")]
        .into_iter()
        .find(|text| accepts(text))?;
    Some(format!("{text:?}"))
}

/// A name or path that somebody put in quotes.
fn unquoted(value: &str) -> Option<String> {
    let text = value.strip_prefix('"')?.strip_suffix('"')?;
    let is_path = text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == ':')
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | ':'));
    is_path.then(|| text.to_owned())
}

/// Steps over what is left of an option, up to its comma.
pub(crate) fn skip_value(input: ParseStream<'_>) {
    value_tokens(input);
}

fn value_tokens(input: ParseStream<'_>) -> TokenStream {
    std::iter::from_fn(|| match input.peek(Token![,]) {
        true => None,
        false => input.parse::<TokenTree>().ok(),
    })
    .collect()
}

/// An error about a part of a literal. Stable Rust can point only at the whole, so the message
/// points too.
fn within(literal: &LitStr, text: &str, part: Range<usize>, message: &str) -> Error {
    let whole = part == (0..text.len()) || text.contains(char::is_control);
    let message = if whole {
        message.to_owned()
    } else {
        let before = " ".repeat(text[..part.start].chars().count());
        let carets = "^".repeat(text[part.clone()].chars().count());
        format!("{message}\n  {text}\n  {before}{carets}")
    };
    Error::new(
        subspan(literal, text, part).unwrap_or(literal.span()),
        message,
    )
}

/// The span of a part of a literal that has no escapes, where the compiler can say it.
fn subspan(literal: &LitStr, text: &str, part: Range<usize>) -> Option<Span> {
    let token = literal.token();
    let quote = '"'.len_utf8();
    (token.to_string() == format!("\"{text}\""))
        .then(|| token.subspan(part.start + quote..part.end + quote))
        .flatten()
}
