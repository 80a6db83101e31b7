//! What a handler's parameters may be, and where their values come from.
//!
//! The lease is the first; each other parameter is an extractor, made from the [`RunParts`] before the
//! handler is called. What the extractors of a task need from the application is asked once, at the
//! start ([`Requirements`]), so that nothing is found missing only when a job is due.

mod lease;
mod payload;
mod state;

pub use lease::IsLease;
pub use payload::Payload;
pub use state::State;
pub(crate) use state::States;

#[cfg(test)]
mod tests;

use std::any::{TypeId, type_name};
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::outcome::{BoxError, Outcome};
use crate::lease::LeaseContext;

/// A parameter of a handler, after the lease: made anew for each run.
///
/// [`State`] and [`Payload`] are such parameters. Implement it for a type of your own to build one from
/// them, or to prepare what many handlers begin with:
///
/// ```
/// use tasklock_runtime::{ExtractError, FromRun, Requirements, RunParts, State};
///
/// struct Config {
///     region: String,
/// }
///
/// struct Region(String);
///
/// impl FromRun for Region {
///     fn requirements(needs: &mut Requirements) {
///         State::<Config>::requirements(needs); // missing: found when the program starts
///     }
///
///     async fn from_run(run: &RunParts) -> Result<Self, ExtractError> {
///         let config = State::<Config>::from_run(run).await?;
///         Ok(Self(config.region.clone()))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a handler",
    label = "not a parameter that the runtime can make",
    note = "a handler takes `LeaseContext` first, then any number of `State<T>`, at most one `Payload<T>`, \
            and types of your own that implement `tasklock_runtime::FromRun`",
    note = "if this is what the job carries, wrap it: `Payload<{Self}>`"
)]
pub trait FromRun: Sized + Send {
    /// Names what this parameter needs of the application. Called once, when the program starts: what is
    /// named and missing is an error then, with the task's file and line. Default: nothing.
    fn requirements(needs: &mut Requirements) {
        let _ = needs;
    }

    /// Makes the value for one run, under its lease: a slow one uses up the lease's time.
    ///
    /// # Errors
    ///
    /// Any error is the run's, as if the handler had returned it; the handler is not called.
    fn from_run(run: &RunParts) -> impl Future<Output = Result<Self, ExtractError>> + Send;

    /// Whether this is the job's payload, of which a handler takes one.
    #[doc(hidden)]
    const IS_PAYLOAD: bool = false;
}

/// What one run is made of. Cheap to clone.
#[derive(Clone)]
pub struct RunParts {
    lease: LeaseContext,
    payload: Option<Arc<str>>,
    states: Arc<States>,
}

impl RunParts {
    pub(crate) fn new(lease: LeaseContext, payload: Option<Arc<str>>, states: Arc<States>) -> Self {
        Self {
            lease,
            payload,
            states,
        }
    }

    /// The lease that the run is made under.
    #[must_use]
    pub fn lease(&self) -> &LeaseContext {
        &self.lease
    }

    /// The application's state of this type, if the runtime was given one.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.states.get()
    }

    /// What the job carries, as JSON; `None` for a job without a payload.
    #[must_use]
    pub fn payload(&self) -> Option<&str> {
        self.payload.as_deref()
    }
}

/// Without the payload, which is never shown.
impl fmt::Debug for RunParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunParts")
            .field("lease", &self.lease)
            .field("has_payload", &self.payload.is_some())
            .finish_non_exhaustive()
    }
}

/// What a task's parameters need of the application.
#[derive(Debug, Default)]
pub struct Requirements {
    states: Vec<(TypeId, &'static str)>,
}

impl Requirements {
    /// A state of this type: [`RuntimeBuilder::state`](crate::RuntimeBuilder::state).
    pub fn state<T: Send + Sync + 'static>(&mut self) {
        let needed = (TypeId::of::<T>(), type_name::<T>());
        if !self.states.contains(&needed) {
            self.states.push(needed);
        }
    }

    /// The types, by name, of what is needed and not there.
    pub(crate) fn missing(&self, states: &States) -> impl Iterator<Item = &'static str> {
        self.states
            .iter()
            .filter(|(id, _)| !states.contains(*id))
            .map(|(_, name)| *name)
    }
}

/// Why a parameter could not be made: any error, by `?` or `.into()`.
///
/// It is no `std::error::Error` itself, so that every error converts into it.
pub struct ExtractError(Kind);

enum Kind {
    Failed(BoxError),
    Undecodable(String),
}

impl ExtractError {
    /// The payload is none of this handler's: another version of the program may decode it.
    pub(crate) fn undecodable(mistake: String) -> Self {
        Self(Kind::Undecodable(mistake))
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        match self.0 {
            Kind::Failed(error) => Outcome::of(&*error),
            Kind::Undecodable(mistake) => Outcome::Undecodable(mistake),
        }
    }
}

impl<E: Into<BoxError>> From<E> for ExtractError {
    fn from(error: E) -> Self {
        Self(Kind::Failed(error.into()))
    }
}

impl fmt::Display for ExtractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Failed(error) => error.fmt(f),
            Kind::Undecodable(mistake) => f.write_str(mistake),
        }
    }
}

impl fmt::Debug for ExtractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Failed(error) => error.fmt(f),
            Kind::Undecodable(mistake) => f.write_str(mistake),
        }
    }
}
