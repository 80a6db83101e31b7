//! Handlers that are plain functions.

use super::outcome::Outcome;

/// Runs a handler on tokio's pool of blocking threads. Where this future is dropped the thread goes on.
pub async fn blocking(handler: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
    match tokio::task::spawn_blocking(handler).await {
        Ok(outcome) => outcome,
        Err(error) if error.is_panic() => Outcome::Panicked("the handler panicked".to_owned()),
        Err(_) => Outcome::Interrupted,
    }
}
