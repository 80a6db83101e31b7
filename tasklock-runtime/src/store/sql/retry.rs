//! Errors of sqlx as ours, and which of them a call survives.

use std::time::Duration;

use tokio::time::sleep;

use crate::error::{StoreError, StoreErrorKind};

/// What a database's error means, and what to do about it.
pub(in crate::store) type Diagnose = fn(&sqlx::Error) -> (StoreErrorKind, &'static str);

pub(in crate::store) const TRIES: u32 = 20;
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LAST_PAUSE: Duration = Duration::from_millis(200);

/// The retries of one call: a conflict is tried again after a pause, with jitter; anything else is the
/// call's error.
pub(in crate::store) struct Retry<'a> {
    store: &'a str,
    call: &'static str,
    diagnose: Diagnose,
    tries: u32,
    /// How many connections that were lost while they waited in the pool the call may find.
    stale: u32,
    pause: Duration,
}

impl<'a> Retry<'a> {
    pub(in crate::store) fn new(store: &'a str, call: &'static str, diagnose: Diagnose) -> Self {
        Self {
            store,
            call,
            diagnose,
            tries: 0,
            stale: 0,
            pause: FIRST_PAUSE,
        }
    }

    /// For calls that may be carried out twice: after a restart of the server each connection of the
    /// pool fails once, and this is not the caller's trouble.
    pub(in crate::store) fn with_stale(mut self, connections: u32) -> Self {
        self.stale = connections;
        self
    }

    /// Pauses before the next try, or says why there is none.
    pub(in crate::store) async fn after(&mut self, error: sqlx::Error) -> Result<(), StoreError> {
        let error = store_error(self.store, self.call, self.diagnose, error);
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

/// Tries a call until it succeeds or is not worth trying again. The caller's `diagnose` is in scope.
macro_rules! retried {
    ($store:expr, $call:literal, $attempt:expr) => {{
        let retry = $crate::store::sql::Retry::new(&$store.name, $call, diagnose);
        retried!(with retry, $attempt)
    }};
    (idempotent $store:expr, $call:literal, $attempt:expr) => {{
        let retry = $crate::store::sql::Retry::new(&$store.name, $call, diagnose)
            .with_stale($store.pool.options().get_max_connections());
        retried!(with retry, $attempt)
    }};
    (with $retry:ident, $attempt:expr) => {{
        let mut retry = $retry;
        loop {
            match $attempt.await {
                Ok(value) => break Ok::<_, $crate::error::StoreError>(value),
                Err(error) => retry.after(error).await?,
            }
        }
    }};
}
pub(in crate::store) use retried;

/// An error of sqlx as one of ours.
pub(in crate::store) fn store_error(
    store: &str,
    call: &'static str,
    diagnose: Diagnose,
    error: sqlx::Error,
) -> StoreError {
    let (kind, advice) = match &error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => (StoreErrorKind::Unavailable, ""),
        other => diagnose(other),
    };
    let message = if advice.is_empty() {
        error.to_string()
    } else {
        format!("{error}: {advice}")
    };
    StoreError {
        store: store.to_owned(),
        call,
        kind,
        message,
    }
}
