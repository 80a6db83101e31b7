//! How a run ended.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::lease::LeaseLost;

/// Any error, boxed: what `?` in a handler converts to.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What a handler returns: `Ok(())`, or any error.
///
/// Plain error types, `anyhow::Error` and boxed errors all convert with `?`. A handler may also
/// return `()` or a `Result` with an error type of its own.
pub type TaskResult<E = BoxError> = Result<(), E>;

/// The longest error text that is kept, in bytes.
const MAX_ERROR: usize = 4096;

/// How a run ended. Handlers make the first two; the runtime the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The handler returned `Ok`, or `()`.
    Succeeded,
    /// The handler returned an error: its message and those of its causes.
    Failed(String),
    /// The handler panicked, with this message.
    Panicked(String),
    /// The handler ran longer than its `timeout` and was dropped.
    TimedOut(Duration),
    /// The lease was lost before the run ended.
    Lost(LeaseLost),
    /// The process stopped before the run ended; the handler was dropped.
    Interrupted,
}

impl Outcome {
    /// How a run ends that an error has ended.
    pub(super) fn of(error: &(dyn Error + 'static)) -> Self {
        Self::Failed(Chain(error).to_string())
    }

    /// As a word for the store, logs and metrics.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed(_) => "failed",
            Self::Panicked(_) => "panicked",
            Self::TimedOut(_) => "timed_out",
            Self::Lost(_) => "lost",
            Self::Interrupted => "interrupted",
        }
    }

    /// What went wrong, for the store and the logs; `None` for a success.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        match self {
            Self::Succeeded => None,
            Self::Failed(error) => Some(error.clone()),
            Self::Panicked(message) => Some(format!("panicked: {message}")),
            Self::TimedOut(limit) => Some(format!(
                "timed out after {}",
                tasklock_grammar::display_duration(*limit)
            )),
            Self::Lost(lost) => Some(lost.to_string()),
            Self::Interrupted => Some("the process stopped before the run ended".into()),
        }
    }
}

/// What a handler may return: `()`, or `Result<(), E>` for any error `E` that boxes.
#[diagnostic::on_unimplemented(
    message = "a task returns `()` or `Result<(), E>`, not `{Self}`",
    label = "a handler cannot return this",
    note = "write `-> TaskResult`, or a `Result<(), E>` whose `E` converts into \
            `Box<dyn Error + Send + Sync>`: std errors, `anyhow::Error`, strings"
)]
pub trait IntoOutcome {
    /// Converts the handler's return value.
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Outcome {
        Outcome::Succeeded
    }
}

impl<E: Into<BoxError>> IntoOutcome for Result<(), E> {
    fn into_outcome(self) -> Outcome {
        match self {
            Ok(()) => Outcome::Succeeded,
            Err(error) => Outcome::of(&*error.into()),
        }
    }
}

/// An error with its causes, outermost first, bounded in length.
struct Chain<'a>(&'a (dyn Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.0.to_string();
        let mut cause = self.0.source();
        while let Some(error) = cause {
            if text.len() > MAX_ERROR {
                break;
            }
            let message = error.to_string();
            // Many errors print their cause themselves.
            if !text.ends_with(&message) {
                text.push_str(": ");
                text.push_str(&message);
            }
            cause = error.source();
        }
        f.write_str(bounded(&text))
    }
}

/// The longest prefix of `text` that is kept, cut between characters.
pub(crate) fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_ERROR)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(std::num::ParseIntError);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("reading the rate")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn causes_are_kept() {
        let error = "x".parse::<i32>().map_err(Outer).map(|_| ());
        assert_eq!(
            error.into_outcome(),
            Outcome::Failed("reading the rate: invalid digit found in string".into())
        );
    }

    #[test]
    fn strings_and_unit_are_accepted() {
        assert_eq!(().into_outcome(), Outcome::Succeeded);
        assert_eq!(
            Err("no".to_owned()).into_outcome(),
            Outcome::Failed("no".into())
        );
    }

    #[test]
    fn long_errors_are_cut_between_characters() {
        let Outcome::Failed(error) = Err("ä".repeat(5_000)).into_outcome() else {
            panic!("an error is a failure");
        };
        assert_eq!(error.len(), MAX_ERROR);
    }
}
