//! What is wrong with a cron expression as a whole, where, and what to write instead.
//!
//! What stands in quotes in a message replaces the part that is wrong.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use super::field::Field;
use super::part::Part;
use super::read::parse_cron;
use crate::duration::parse_duration;

pub(super) const EXAMPLE: &str = "0 3 * * *";
const FIELDS: &str = "minute, hour, day of the month, month, day of the week";

/// Why a text is not a cron expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronError {
    message: String,
    text_message: Option<String>,
    range: Range<usize>,
}

impl CronError {
    pub(super) fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            text_message: None,
            range,
        }
    }

    /// Says it in other words where the whole schedule is one text.
    pub(super) fn in_text(mut self, message: impl Into<String>) -> Self {
        self.text_message = Some(message.into());
        self
    }

    /// One line: what is wrong in which field, and what to write in the attribute.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// One line: what is wrong in which field, and what to write where the whole schedule is one text, such as
    /// `cron 0 3 * * *` or `every 5m`.
    #[must_use]
    pub fn text_message(&self) -> &str {
        self.text_message.as_ref().unwrap_or(&self.message)
    }

    /// The bytes of the text that are wrong; always on character boundaries.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CronError {}

pub(super) fn empty(text: &str) -> CronError {
    let message = format!("the cron is empty: write one such as \"{EXAMPLE}\"");
    let in_text = format!("the cron is empty: write one such as \"cron {EXAMPLE}\"");
    CronError::new(0..text.len(), message).in_text(in_text)
}

/// One to four fields.
pub(super) fn too_few(text: &str, fields: &[Part<'_>]) -> CronError {
    let whole = Part::whole(text).range();
    if let [only] = fields
        && parse_duration(only.text).is_ok()
    {
        let duration = only.text;
        let message = format!(
            "`{duration}` is a duration and no cron: write `every = {duration:?}` for a fixed rate, \
             or a cron such as \"{EXAMPLE}\""
        );
        let in_text = format!(
            "`{duration}` is a duration and no cron: write \"every {duration}\" for a fixed rate, or a cron such as \
             \"cron {EXAMPLE}\""
        );
        return CronError::new(whole, message).in_text(in_text);
    }
    let count = fields.len();
    let completed = fields
        .iter()
        .map(|field| field.text)
        .chain(std::iter::repeat_n("*", 5 - count))
        .collect::<Vec<_>>()
        .join(" ");
    // Of one or two fields nobody knows which they were meant to be.
    let instead = if count > 2 && parse_cron(&completed).is_ok() {
        completed
    } else {
        EXAMPLE.to_owned()
    };
    let message = |start| {
        format!(
            "a cron has five fields ({FIELDS}) and this has {count}: write one such as \"{start}{instead}\""
        )
    };
    CronError::new(whole, message("")).in_text(message("cron "))
}

/// Seven fields or more.
pub(super) fn too_many(fields: &[Part<'_>]) -> CronError {
    let count = fields.len();
    let range = fields[6].range_to(fields[count - 1]);
    let message = if count == 7 {
        "a cron has five fields, or six with seconds before them, and none for the year: leave the \
         seventh out"
            .to_owned()
    } else {
        format!(
            "a cron has five fields, or six with seconds before them, and this has {count}: leave the \
             last {} out",
            count - 6
        )
    };
    CronError::new(range, message)
}

/// A comma with nothing on one side.
pub(super) fn missing_item(field: Field, part: Part<'_>) -> CronError {
    let given: Vec<_> = part
        .split(',')
        .map(|item| item.text)
        .filter(|text| !text.is_empty())
        .collect();
    let instead = match given[..] {
        [] => "*".to_owned(),
        _ => given.join(","),
    };
    let message = format!(
        "a value is missing in the list of {}, which has no blanks in it: write \"{}\"",
        field.many(),
        instead.escape_debug()
    );
    CronError::new(part.range(), message)
}

/// A `*` after something else, or one that makes the rest of its list needless.
pub(super) fn star_inside(part: Part<'_>) -> CronError {
    let (stars, others): (Vec<&str>, Vec<&str>) = part
        .split(',')
        .map(|item| item.text)
        .partition(|text| text.starts_with('*'));
    let message = if stars.contains(&"*") {
        "`*` is every value already: write \"*\" alone".to_owned()
    } else {
        let instead = [stars, others].concat().join(",");
        let instead = instead.escape_debug();
        format!("what starts with `*` comes first in a list: write \"{instead}\"")
    };
    CronError::new(part.range(), message)
}
