//! Which failures a call survives, and how long it pauses before it is tried again.

use std::time::Duration;

use tokio::time::sleep;

use crate::error::{StoreError, StoreErrorKind};

pub(super) const TRIES: u32 = 20;
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LAST_PAUSE: Duration = Duration::from_millis(200);

/// Those of one call: a conflict is tried again after a pause, with jitter; anything else is the call's error.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pauses {
    tries: u32,
    /// How many connections that were lost while nobody used them the call may find.
    pub(super) stale: u32,
    pause: Duration,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            tries: 0,
            stale: 0,
            pause: FIRST_PAUSE,
        }
    }
}

impl Pauses {
    /// Pauses before the next try, or says why there is none.
    pub(super) async fn after(&mut self, error: StoreError) -> Result<(), StoreError> {
        self.tries += 1;
        match error.kind {
            StoreErrorKind::Busy if self.tries < TRIES => {}
            StoreErrorKind::Unavailable if self.tries <= self.stale => {}
            _ => return Err(error),
        }
        let jitter = f64::from(getrandom::u32().unwrap_or(0) % 1_000) / 1_000.0;
        sleep(self.pause.mul_f64(0.5 + jitter)).await;
        self.pause = (self.pause * 2).min(LAST_PAUSE);
        Ok(())
    }
}

/// Tries a call until it succeeds or is not worth trying again.
macro_rules! again {
    ($retry:ident, $attempt:expr) => {{
        let mut retry = $retry;
        loop {
            match $attempt.await {
                Ok(value) => break Ok::<_, $crate::error::StoreError>(value),
                Err(error) => retry.after(error).await?,
            }
        }
    }};
}
pub(super) use again;
