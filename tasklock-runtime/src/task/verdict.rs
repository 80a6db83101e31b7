//! What a handler can ask for by the error that it returns.
//!
//! Each of these is found wherever it stands in the chain of causes. Wrappers hide the type of what they
//! wrap (`anyhow::Error` boxes it in a type of its own, `io::Error` answers its cause's cause), but all of
//! them pass its `source` on: so what is looked for is the source, a [`Verdict`].

use std::error::Error;
use std::fmt;
use std::time::Duration;

use tasklock_grammar::{MAX_DURATION, display_duration};

use super::outcome::BoxError;
use super::text::causes;

/// No delay is shorter: a handler that asks for none at all must not spin.
const MIN_DELAY: Duration = Duration::from_millis(100);

/// What the handler has asked for. Not public: it is found through one of the types below.
#[derive(Debug)]
pub(super) enum Verdict {
    Discard(BoxError),
    Snooze(Duration),
    RetryAfter(Duration, BoxError),
}

impl Verdict {
    /// The outermost one in an error's chain.
    pub(super) fn in_chain<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        causes(error).find_map(|cause| cause.downcast_ref())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Discard(reason) => reason.fmt(f),
            Self::Snooze(delay) => write!(f, "again in {}", display_duration(*delay)),
            Self::RetryAfter(_, error) => error.fmt(f),
        }
    }
}

impl Error for Verdict {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Discard(error) | Self::RetryAfter(_, error) => error.source(),
            Self::Snooze(_) => None,
        }
    }
}

macro_rules! found_by_its_source {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl Error for $name {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
    };
}

/// The job is dead at once, whatever attempts it has left: it can never succeed.
///
/// An error for a handler to return, found as well where it is a cause of the returned error
/// (`anyhow`'s context, an error type of your own with a `source`). Of several in one chain the
/// outermost counts. What is recorded is the whole chain's text. Of a scheduled task, whose job never
/// dies, it ends the slot without further attempts.
///
/// ```
/// use tasklock_runtime::{Discard, LeaseContext, TaskResult};
///
/// async fn send_invoice(lease: LeaseContext) -> TaskResult {
///     lease.check()?;
///     Err(Discard::new("the customer has gone"))?
/// }
/// ```
#[derive(Debug)]
pub struct Discard(Verdict);

impl Discard {
    /// With its reason: a text, or any error.
    pub fn new(reason: impl Into<BoxError>) -> Self {
        Self(Verdict::Discard(reason.into()))
    }
}

found_by_its_source!(Discard);

/// The job runs again later, and this run is not counted as an attempt: what it needs is not there yet.
///
/// An error for a handler to return, found as well where it is a cause of the returned error. It is not
/// recorded as a failure.
///
/// ```
/// use std::time::Duration;
/// use tasklock_runtime::{LeaseContext, Snooze, TaskResult};
///
/// async fn fetch_report(lease: LeaseContext) -> TaskResult {
///     lease.check()?;
///     Err(Snooze::new(Duration::from_secs(30)))?
/// }
/// ```
#[derive(Debug)]
pub struct Snooze(Verdict);

impl Snooze {
    /// Again so long after this run's end: at least 100 ms, so that nothing spins, and at most
    /// 3650 days. What is shorter or longer is taken for the nearer of these.
    #[must_use]
    pub fn new(delay: Duration) -> Self {
        Self(Verdict::Snooze(clamped(delay)))
    }
}

found_by_its_source!(Snooze);

/// A failure as any other, whose next attempt comes after a delay of the handler's choice instead of the
/// `backoff`: a server has said when to ask again.
///
/// An error for a handler to return, found as well where it is a cause of the returned error. It uses an
/// attempt: after the last one there is no next.
#[derive(Debug)]
pub struct RetryAfter(Verdict);

impl RetryAfter {
    /// The error, and the time from this run's end to the next attempt: at least 100 ms, so that nothing
    /// spins, and at most 3650 days. What is shorter or longer is taken for the nearer of these.
    pub fn new(delay: Duration, error: impl Into<BoxError>) -> Self {
        Self(Verdict::RetryAfter(clamped(delay), error.into()))
    }
}

found_by_its_source!(RetryAfter);

fn clamped(delay: Duration) -> Duration {
    delay.clamp(MIN_DELAY, MAX_DURATION)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use super::*;
    use crate::task::{IntoOutcome, Outcome};

    /// As `anyhow` does it: its box is of a type of its own, and answers the source of what is in it.
    #[derive(Debug)]
    struct Opaque(BoxError);

    impl fmt::Display for Opaque {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }

    impl Error for Opaque {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.0.source()
        }
    }

    #[derive(Debug)]
    struct Context(&'static str, BoxError);

    impl fmt::Display for Context {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Context {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&*self.1)
        }
    }

    fn outcome(error: impl Into<BoxError>) -> Outcome {
        Err::<(), BoxError>(error.into()).into_outcome()
    }

    fn gone() -> Discard {
        Discard::new("the customer has gone")
    }

    #[test]
    fn a_verdict_is_found_in_every_wrapping() {
        let discarded = Outcome::Discarded("the customer has gone".into());
        assert_eq!(outcome(gone()), discarded);
        assert_eq!(Err::<(), _>(gone()).into_outcome(), discarded);
        assert_eq!(outcome(Box::new(gone())), discarded);
        assert_eq!(outcome(Arc::new(gone())), discarded);
        assert_eq!(outcome(io::Error::other(gone())), discarded);
        assert_eq!(outcome(Opaque(gone().into())), discarded);
        let deep = Opaque(Context("sending", Opaque(gone().into()).into()).into());
        assert_eq!(
            outcome(deep),
            Outcome::Discarded("sending: the customer has gone".into())
        );
        let snooze = Snooze::new(Duration::from_secs(3));
        assert_eq!(
            outcome(Context("waiting", Box::new(snooze))),
            Outcome::Snoozed(Duration::from_secs(3))
        );
    }

    /// The real one: what it does inside is its own affair, and may change.
    #[test]
    fn a_verdict_is_found_in_anyhow() {
        fn handler(error: impl Into<anyhow::Error>) -> anyhow::Result<()> {
            use anyhow::Context;
            Err(error.into()).context("sending").context("invoices")
        }
        let plain: anyhow::Result<()> = Err(gone().into());
        assert_eq!(
            plain.into_outcome(),
            Outcome::Discarded("the customer has gone".into())
        );
        assert_eq!(
            handler(gone()).into_outcome(),
            Outcome::Discarded("invoices: sending: the customer has gone".into())
        );
        assert_eq!(
            handler(Snooze::new(Duration::from_secs(3))).into_outcome(),
            Outcome::Snoozed(Duration::from_secs(3))
        );
        let busy = RetryAfter::new(
            Duration::from_secs(3),
            anyhow::anyhow!("busy").context("asking"),
        );
        assert_eq!(
            handler(busy).into_outcome(),
            Outcome::Failed {
                error: "invoices: sending: asking: busy".into(),
                retry_after: Some(Duration::from_secs(3))
            }
        );
    }

    #[test]
    fn the_text_is_the_whole_chain() {
        let cause = "x".parse::<i32>().err();
        let reason = Context("reading", cause.map_or("".into(), Into::into));
        assert_eq!(
            outcome(Context("sending", Discard::new(reason).into())),
            Outcome::Discarded("sending: reading: invalid digit found in string".into())
        );
    }

    #[test]
    fn retry_after_is_a_failure_with_a_delay() {
        let delay = Duration::from_secs(7);
        let busy = RetryAfter::new(delay, io::Error::other("busy"));
        assert_eq!(
            outcome(Context("asking", busy.into())),
            Outcome::Failed {
                error: "asking: busy".into(),
                retry_after: Some(delay)
            }
        );
    }

    #[test]
    fn the_outermost_counts() {
        let delay = Duration::from_secs(7);
        assert!(matches!(
            outcome(RetryAfter::new(delay, gone())),
            Outcome::Failed { .. }
        ));
        let busy = RetryAfter::new(delay, "busy");
        assert_eq!(
            outcome(Discard::new(busy)),
            Outcome::Discarded("busy".into())
        );
    }

    #[test]
    fn delays_are_clamped() {
        assert_eq!(
            outcome(Snooze::new(Duration::ZERO)),
            Outcome::Snoozed(MIN_DELAY)
        );
        assert_eq!(
            outcome(Snooze::new(Duration::MAX)),
            Outcome::Snoozed(MAX_DURATION)
        );
        for (given, kept) in [(Duration::ZERO, MIN_DELAY), (Duration::MAX, MAX_DURATION)] {
            assert_eq!(
                outcome(RetryAfter::new(given, "busy")),
                Outcome::Failed {
                    error: "busy".into(),
                    retry_after: Some(kept)
                }
            );
        }
    }
}
