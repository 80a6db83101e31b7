//! The only door for generated code. Not public API.

pub use inventory;

pub use crate::task::{
    Definition, ExtractError, FromRun, IntoOutcome, IsLease, Location, OnLost, Outcome,
    Registration, Requirements, RunFuture, RunParts, blocking,
};

/// How a run ends whose parameters could not be made.
#[must_use]
pub fn refused(error: ExtractError) -> Outcome {
    error.into_outcome()
}
