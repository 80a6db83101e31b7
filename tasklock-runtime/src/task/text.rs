//! Texts of errors, bounded: what a handler returns is not under our control.

use std::error::Error;
use std::fmt::{self, Write};
use std::iter;

/// The longest text that is kept, in bytes.
pub(super) const MAX_TEXT: usize = 4096;
/// The most causes that are looked at: a chain may be a circle.
const MAX_CAUSES: usize = 64;

/// The longest prefix of `text` that is kept, cut between characters.
pub(super) fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

/// An error and its causes, outermost first, bounded in number.
pub(super) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |error| (*error).source()).take(MAX_CAUSES)
}

/// The messages of an error and of its causes, bounded in length.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = Text::default();
    for cause in causes(error) {
        let message = Text::of(cause);
        // Many errors print their cause themselves.
        if text.0.ends_with(&message.0) {
            continue;
        }
        let separator = if text.0.is_empty() { "" } else { ": " };
        if write!(text, "{separator}{}", message.0).is_err() {
            break;
        }
    }
    text.0
}

/// Takes what fits, and then stops whoever writes.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    /// Not `to_string`, which panics where a `Display` fails and holds whatever it writes.
    pub(super) fn of(value: impl fmt::Display) -> Self {
        let mut text = Self::default();
        let _ = write!(text, "{value}");
        text
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

impl Write for Text {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = MAX_TEXT.saturating_sub(self.0.len());
        let fits = part.floor_char_boundary(room);
        self.0.push_str(&part[..fits]);
        if fits < part.len() {
            return Err(fmt::Error);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Odd {
        text: fn(&mut fmt::Formatter<'_>) -> fmt::Result,
        cause: Option<&'static Odd>,
    }

    impl fmt::Display for Odd {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (self.text)(f)
        }
    }

    impl Error for Odd {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.cause.map(|cause| cause as _)
        }
    }

    #[test]
    fn a_circle_of_causes_has_an_end() {
        #[derive(Debug)]
        struct Circle;
        impl fmt::Display for Circle {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("round")
            }
        }
        impl Error for Circle {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&Circle)
            }
        }
        assert_eq!(chain(&Circle), "round");
    }

    #[test]
    fn of_a_million_causes_the_first_are_told() {
        let mut error: &'static Odd = Box::leak(Box::new(Odd {
            text: |f| f.write_str("last"),
            cause: None,
        }));
        for number in 0..1_000_000 {
            let text: fn(&mut fmt::Formatter<'_>) -> fmt::Result = match number % 2 {
                0 => |f| f.write_str("a"),
                _ => |f| f.write_str("b"),
            };
            error = Box::leak(Box::new(Odd {
                text,
                cause: Some(error),
            }));
        }
        let text = chain(error);
        assert!(text.starts_with("b: a: b: "), "{text}");
        assert_eq!(text.split(": ").count(), MAX_CAUSES);
    }

    /// A gigabyte that is written piece by piece is not gathered, and a `Display` that fails does not panic.
    #[test]
    fn a_text_without_an_end_is_cut() {
        let endless = Odd {
            text: |f| loop {
                f.write_str("ä")?;
            },
            cause: None,
        };
        assert_eq!(chain(&endless), "ä".repeat(MAX_TEXT / 2));
        let failing = Odd {
            text: |f| {
                f.write_str("half")?;
                Err(fmt::Error)
            },
            cause: None,
        };
        assert_eq!(chain(&failing), "half");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let text = format!("a{}", "ä".repeat(5_000));
        assert_eq!(bounded(&text).len(), MAX_TEXT - 1);
        let long = Odd {
            text: |f| write!(f, "a{}", "ä".repeat(5_000)),
            cause: None,
        };
        assert_eq!(chain(&long).len(), MAX_TEXT - 1);
    }
}
