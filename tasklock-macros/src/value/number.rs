//! Whole numbers.

use std::ops::RangeInclusive;

use syn::parse::discouraged::Speculative;
use syn::{Error, LitInt, Result};

use super::{Value, value_tokens};
use crate::options::Given;

impl Value<'_> {
    /// A whole number in a range.
    pub(crate) fn number<T: TryFrom<i64>>(&self, range: RangeInclusive<i64>) -> Result<Given<T>> {
        let fork = self.input.fork();
        let literal = match fork.parse::<LitInt>() {
            Ok(literal) if literal.suffix().is_empty() => literal,
            _ => {
                let repair = |value: &str| plain_number(value, &range);
                return Err(self.wrong_type("a plain whole number", repair));
            }
        };
        let value = value_tokens(&self.input.fork());
        self.input.advance_to(&fork);
        let number = literal.base10_parse::<i64>().ok();
        let fitting = number.filter(|number| range.contains(number));
        if let Some(number) = fitting.and_then(|number| T::try_from(number).ok()) {
            return Ok(self.given_at(number, literal.span()));
        }
        let (side, bound, further) = match literal.base10_digits().starts_with('-') {
            false if number.is_none_or(|number| number > *range.end()) => {
                ("most", range.end(), "less")
            }
            _ => ("least", range.start(), "more"),
        };
        let key = self.key;
        let message = format!("`{key}` is at {side} {bound}: write `{key} = {bound}` or {further}");
        Err(Error::new_spanned(value, message))
    }
}

/// A number that somebody wrote in quotes, with a sign, with a type, or with nothing but zeros
/// after a point.
fn plain_number(value: &str, range: &RangeInclusive<i64>) -> Option<String> {
    let compact = value.replace([' ', '"', '_', '+'], "");
    let digits = compact.trim_start_matches('-');
    let end = digits.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = digits.split_at(end.unwrap_or(digits.len()));
    let sign = if compact.starts_with('-') { "-" } else { "" };
    let number = format!("{sign}{digits}").parse::<i64>().ok()?;
    let is_whole = match rest.strip_prefix('.') {
        Some(decimals) => decimals.chars().all(|c| c == '0'),
        // Neither an exponent nor another base.
        None => {
            rest.chars().all(char::is_alphanumeric) && !rest.starts_with(['e', 'E', 'b', 'o', 'x'])
        }
    };
    (is_whole && range.contains(&number)).then(|| number.to_string())
}
