//! What a job carries.

use std::ops::{Deref, DerefMut};

use serde::de::DeserializeOwned;

use super::{ExtractError, FromRun, RunParts};

/// What the job carries: a parameter of a handler, at most one.
///
/// `T` is serialised where the job is enqueued (`serde::Serialize`), kept as JSON, and deserialised for
/// each run (`serde::Deserialize`).
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
        serde_json::from_str(run.payload().unwrap_or("null"))
            .map(Self)
            .map_err(|_| ExtractError::undecodable("the payload does not fit".to_owned()))
    }
}
