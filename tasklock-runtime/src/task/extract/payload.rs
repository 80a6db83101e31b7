//! What a job carries.

use std::ops::{Deref, DerefMut};

use serde::de::DeserializeOwned;

use super::{ExtractError, FromRun, RunParts};
use crate::task::decode::decode;

/// What the job carries: a parameter of a handler, at most one.
///
/// `T` is serialised where the job is enqueued (`serde::Serialize`), kept as JSON, and deserialised for
/// each run (`serde::Deserialize`). A job without a payload carries JSON's `null`.
///
/// A payload that this program's `T` does not fit, one that an older or a newer version has enqueued, ends
/// the run as [`Outcome::Undecodable`](crate::Outcome::Undecodable), with the place of the mistake and what
/// was expected there. Nothing that is in the payload is shown: no value, no key of a map, no text of an
/// error that `T` makes itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Payload<T>(pub T);

impl<T> Payload<T> {
    /// What it wraps.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Payload<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Payload<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: DeserializeOwned + Send> FromRun for Payload<T> {
    const IS_PAYLOAD: bool = true;

    async fn from_run(run: &RunParts) -> Result<Self, ExtractError> {
        decode(run.payload())
            .map(Self)
            .map_err(ExtractError::undecodable)
    }
}
