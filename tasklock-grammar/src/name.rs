//! What a task or a named lease may be called.

use std::error::Error;
use std::fmt;

/// The longest name, in bytes of UTF-8. It fits in an index of every supported database.
pub const MAX_NAME_BYTES: usize = 128;

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameError {
    message: String,
}

impl NameError {
    /// One line: what is wrong, and what to write.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for NameError {}

/// Checks the name of a task or of a named lease.
///
/// A name is 1 to [`MAX_NAME_BYTES`] bytes long, has no control characters (databases differ on
/// NUL, logs on line breaks), and neither starts nor ends with white space.
///
/// # Errors
///
/// Says which of these rules is broken.
///
/// ```
/// use tasklock_grammar::check_name;
///
/// assert!(check_name("billing.refresh").is_ok());
/// assert_eq!(
///     check_name(" billing").unwrap_err().message(),
///     "a name has no blanks at its ends: write \"billing\"",
/// );
/// ```
pub fn check_name(name: &str) -> Result<(), NameError> {
    let trimmed = name.trim();
    let message = if trimmed.is_empty() {
        "the name is empty: write one such as \"billing.refresh\"".to_owned()
    } else if let Some((at, found)) = name.char_indices().find(|(_, c)| c.is_control()) {
        let found = found.escape_unicode();
        format!("a name has no control characters: remove the `{found}` at byte {at}")
    } else if trimmed.len() < name.len() {
        format!("a name has no blanks at its ends: write \"{trimmed}\"")
    } else if name.len() > MAX_NAME_BYTES {
        let length = name.len();
        format!("a name has at most {MAX_NAME_BYTES} bytes and this one has {length}: shorten it")
    } else {
        return Ok(());
    };
    Err(NameError { message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str) -> String {
        check_name(name).unwrap_err().to_string()
    }

    #[test]
    fn names_that_people_use() {
        for name in [
            "a",
            "billing.refresh",
            "tenant:42",
            "send invoice",
            "größe",
            "日次",
        ] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        assert_eq!(check_name(&"x".repeat(MAX_NAME_BYTES)), Ok(()));
    }

    #[test]
    fn the_limit_counts_bytes() {
        assert_eq!(check_name(&"ö".repeat(64)), Ok(()));
        assert!(message(&"ö".repeat(65)).contains("this one has 130"));
        assert!(message(&"x".repeat(129)).contains("at most 128 bytes"));
    }

    #[test]
    fn blanks_and_control_characters() {
        assert!(message("").contains("empty"));
        assert!(message(" \t").contains("empty"));
        assert!(message("a\0b").contains("`\\u{0}` at byte 1"));
        assert!(message("a\n").contains("`\\u{a}` at byte 1"));
        assert!(message("a\u{a0}").contains("write \"a\""));
    }
}
