//! The only door for generated code. Not public API.

pub mod options;

pub use inventory;

pub use crate::task::{
    Definition, ExtractError, FromRun, IntoOutcome, IsLease, Location, Missed, OnLost, Outcome,
    Registration, Renew, Requirements, RunFuture, RunParts, blocking,
};

/// What a job carries, or what is wrong with it.
///
/// # Errors
///
/// The place of the mistake, and what was expected there.
pub fn payload_of<T: serde::de::DeserializeOwned>(json: Option<&str>) -> Result<T, String> {
    crate::task::decode(json)
}

/// How a run ends whose parameters could not be made.
#[must_use]
pub fn refused(error: ExtractError) -> Outcome {
    error.into_outcome()
}
