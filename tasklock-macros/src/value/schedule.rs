//! What is said of a schedule, and of a task's former names.

use syn::parse::discouraged::Speculative;
use syn::punctuated::Punctuated;
use syn::{Error, LitBool, LitStr, Result, Token, bracketed, token};
use tasklock_grammar::{check_name, check_zone_name, parse_cron};

use super::{Value, quote_if, within};
use crate::options::Given;

impl Value<'_> {
    /// A cron, checked; as it was written.
    pub(crate) fn cron(&self) -> Result<Given<String>> {
        let literal = self.text(|value| quote_if(value, |text| parse_cron(text).is_ok()))?;
        let text = literal.value();
        parse_cron(&text)
            .map_err(|error| within(&literal, &text, error.range(), error.message()))?;
        Ok(self.given(text, &literal))
    }

    /// A zone's name, as far as it can be told here: the runtime knows them all, and looks at its start.
    pub(crate) fn zone(&self) -> Result<Given<String>> {
        let literal = self.text(|value| {
            let compact = value.replace(char::is_whitespace, "");
            quote_if(&compact, |text| check_zone_name(text).is_ok())
        })?;
        let text = literal.value();
        check_zone_name(&text).map_err(|message| Error::new(literal.span(), message))?;
        Ok(self.given(text, &literal))
    }

    /// One name in quotes, or several in brackets.
    pub(crate) fn aliases(&self) -> Result<Vec<Given<String>>> {
        if !self.input.peek(token::Bracket) {
            return Ok(vec![self.name()?]);
        }
        let names;
        bracketed!(names in self.input);
        let names = Punctuated::<LitStr, Token![,]>::parse_terminated(&names).map_err(|error| {
            let message = "names in brackets are texts in quotes: write them as in [\"old.name\", \"older.name\"]";
            Error::new(error.span(), message)
        })?;
        if names.is_empty() {
            let message = "there is no name in these brackets: write one such as \"old.name\", or remove `alias`";
            return Err(Error::new(self.key.span(), message));
        }
        names
            .iter()
            .map(|literal| {
                let name = literal.value();
                check_name(&name).map_err(|error| Error::new(literal.span(), error))?;
                Ok(self.given(name, literal))
            })
            .collect()
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self) -> Result<Given<bool>> {
        let fork = self.input.fork();
        let flag: LitBool = fork
            .parse()
            .map_err(|_| self.wrong_type("true or false", |_| None))?;
        self.input.advance_to(&fork);
        Ok(self.given_at(flag.value, flag.span))
    }
}
