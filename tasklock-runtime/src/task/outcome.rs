//! How a run ended.

use std::error::Error;
use std::time::Duration;

use tasklock_grammar::display_duration;

use super::text::chain;
use super::verdict::Verdict;
use crate::lease::LeaseLost;

/// Any error, boxed: what `?` in a handler converts to.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What a handler returns: `Ok(())`, or any error.
///
/// Plain error types, `anyhow::Error` and boxed errors all convert with `?`. A handler may also
/// return `()` or a `Result` with an error type of its own. Three errors say what is to become of the job:
/// [`Discard`](crate::Discard), [`Snooze`](crate::Snooze) and [`RetryAfter`](crate::RetryAfter).
pub type TaskResult<E = BoxError> = Result<(), E>;

/// How a run ended. Handlers make the first four; the runtime the others.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The handler returned `Ok`, or `()`.
    Succeeded,
    /// The handler returned an error.
    Failed {
        /// Its message and those of its causes.
        error: String,
        /// When to try again, where the handler has said so ([`RetryAfter`](crate::RetryAfter)).
        retry_after: Option<Duration>,
    },
    /// The handler returned a [`Discard`](crate::Discard), with these messages: no further attempt.
    Discarded(String),
    /// The handler returned a [`Snooze`](crate::Snooze): again after this time, and no attempt was used.
    Snoozed(Duration),
    /// The handler panicked, with this message.
    Panicked(String),
    /// The handler ran longer than its `timeout` and was dropped.
    TimedOut(Duration),
    /// The job's payload is none that this version of the handler takes: where, and what it expects.
    Undecodable(String),
    /// So many runs of the job ended in a crash or a lost lease: no further attempt.
    Poisoned(u32),
    /// The slot was missed, and by the task's `missed` or `catch_up` it is not run, nor are others with it: so many in all.
    Skipped(u32),
    /// The job was cancelled.
    Cancelled,
    /// The lease was lost before the run ended.
    Lost(LeaseLost),
    /// The process stopped before the run ended; the handler was dropped.
    Interrupted,
}

impl Outcome {
    /// How a run ends that an error has ended.
    pub(super) fn of(error: &(dyn Error + 'static)) -> Self {
        let retry_after = match Verdict::in_chain(error) {
            Some(Verdict::Discard(_)) => return Self::Discarded(chain(error)),
            Some(Verdict::Snooze(delay)) => return Self::Snoozed(*delay),
            Some(Verdict::RetryAfter(delay, _)) => Some(*delay),
            None => None,
        };
        Self::Failed {
            error: chain(error),
            retry_after,
        }
    }

    /// As a word for the store, logs and metrics.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed { .. } => "failed",
            Self::Discarded(_) => "discarded",
            Self::Snoozed(_) => "snoozed",
            Self::Panicked(_) => "panicked",
            Self::TimedOut(_) => "timed_out",
            Self::Undecodable(_) => "undecodable",
            Self::Poisoned(_) => "poisoned",
            Self::Skipped(_) => "skipped",
            Self::Cancelled => "cancelled",
            Self::Lost(_) => "lost",
            Self::Interrupted => "interrupted",
        }
    }

    /// What went wrong, for the store and the logs; `None` for a success, a snooze and what was skipped.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        match self {
            Self::Succeeded | Self::Snoozed(_) | Self::Skipped(_) => None,
            Self::Failed { error, .. } => Some(error.clone()),
            Self::Discarded(reason) => Some(reason.clone()),
            Self::Panicked(message) => Some(format!("panicked: {message}")),
            Self::TimedOut(limit) => Some(format!("timed out after {}", display_duration(*limit))),
            Self::Undecodable(mistake) => Some(mistake.clone()),
            Self::Poisoned(crashes) => Some(format!(
                "not tried again: {crashes} of its runs ended in a crash or a lost lease"
            )),
            Self::Cancelled => Some("cancelled".into()),
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

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;
    use crate::task::text::MAX_TEXT;

    fn failed(error: &str) -> Outcome {
        Outcome::Failed {
            error: error.into(),
            retry_after: None,
        }
    }

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
            failed("reading the rate: invalid digit found in string")
        );
    }

    #[test]
    fn strings_and_unit_are_accepted() {
        assert_eq!(().into_outcome(), Outcome::Succeeded);
        assert_eq!(Err("no".to_owned()).into_outcome(), failed("no"));
    }

    #[test]
    fn long_errors_are_cut_between_characters() {
        let Outcome::Failed { error, .. } = Err("ä".repeat(5_000)).into_outcome() else {
            panic!("an error is a failure");
        };
        assert_eq!(error.len(), MAX_TEXT);
    }
}
