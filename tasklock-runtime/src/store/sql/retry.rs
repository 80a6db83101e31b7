//! Errors of sqlx as ours, and which of them a call survives.

use crate::error::{StoreError, StoreErrorKind};
use crate::store::pauses::Pauses;

/// What a database's error means, and what to do about it.
pub(in crate::store) type Diagnose = fn(&sqlx::Error) -> (StoreErrorKind, &'static str);

pub(in crate::store) use crate::store::pauses::TRIES;

/// The retries of one call: a conflict is tried again after a pause, with jitter; anything else is the
/// call's error.
pub(in crate::store) struct Retry<'a> {
    store: &'a str,
    call: &'static str,
    diagnose: Diagnose,
    pauses: Pauses,
}

impl<'a> Retry<'a> {
    pub(in crate::store) fn new(store: &'a str, call: &'static str, diagnose: Diagnose) -> Self {
        Self {
            store,
            call,
            diagnose,
            pauses: Pauses::default(),
        }
    }

    /// For calls that may be carried out twice: after a restart of the server each connection of the
    /// pool fails once, and this is not the caller's trouble.
    pub(in crate::store) fn with_stale(mut self, connections: u32) -> Self {
        self.pauses.stale = connections;
        self
    }

    /// Pauses before the next try, or says why there is none.
    pub(in crate::store) async fn after(&mut self, error: sqlx::Error) -> Result<(), StoreError> {
        let error = store_error(self.store, self.call, self.diagnose, error);
        self.pauses.after(error).await
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
    (with $retry:ident, $attempt:expr) => {
        $crate::store::pauses::again!($retry, $attempt)
    };
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
