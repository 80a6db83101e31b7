//! What Redis means by an error.

use redis::{ErrorKind, RedisError};

use crate::error::{StoreError, StoreErrorKind};
use crate::store::pauses::Pauses;

/// Words by which servers name what is wrong. A server before version 7 quotes the word of a command that failed in a script
/// in the middle of its message.
const MEANINGS: &[(&str, StoreErrorKind, &str)] = &[
    (
        "READONLY",
        StoreErrorKind::NotWritable,
        "the server takes no writes: point the URL at the primary, not at a replica",
    ),
    (
        "OOM",
        StoreErrorKind::NotWritable,
        "the server's memory is used up: raise its `maxmemory`, or delete something",
    ),
    (
        "MISCONF",
        StoreErrorKind::NotWritable,
        "the server takes no writes while it cannot save them: look at its disk",
    ),
    (
        "NOREPLICAS",
        StoreErrorKind::NotWritable,
        "the server takes no writes without its replicas (`min-replicas-to-write`)",
    ),
    (
        "NOPERM",
        StoreErrorKind::NotWritable,
        "the user lacks a permission: it needs the keys and channels of the table prefix, and may run scripts",
    ),
    (
        "NOAUTH",
        StoreErrorKind::Unavailable,
        "check user and password in the URL",
    ),
    (
        "WRONGPASS",
        StoreErrorKind::Unavailable,
        "check user and password in the URL",
    ),
    (
        "LOADING",
        StoreErrorKind::Unavailable,
        "the server is starting",
    ),
    (
        "MASTERDOWN",
        StoreErrorKind::Unavailable,
        "this is a replica whose primary is away",
    ),
    ("CLUSTERDOWN", StoreErrorKind::Unavailable, ""),
    (
        "MOVED",
        StoreErrorKind::Unavailable,
        "the cluster does not agree on which node has the keys",
    ),
    (
        "ASK",
        StoreErrorKind::Busy,
        "the keys are being moved to another node",
    ),
    ("TRYAGAIN", StoreErrorKind::Busy, ""),
    (
        "BUSY",
        StoreErrorKind::Busy,
        "the server is in somebody's long script",
    ),
    // Flushed between the loading and the call.
    ("NOSCRIPT", StoreErrorKind::Busy, ""),
];

fn diagnose(error: &RedisError) -> (StoreErrorKind, &'static str) {
    if error.is_io_error() || error.is_timeout() || error.is_connection_dropped() {
        return (StoreErrorKind::Unavailable, "");
    }
    if error.kind() == ErrorKind::AuthenticationFailed {
        return (
            StoreErrorKind::Unavailable,
            "check user and password in the URL",
        );
    }
    let code = error.code().unwrap_or_default();
    let detail = error.detail().unwrap_or_default();
    let quoted = |word: &str| code == "ERR" && detail.contains(&format!("-{word} "));
    let found = MEANINGS
        .iter()
        .find(|(word, ..)| code == *word || quoted(word));
    match found {
        Some((_, kind, advice)) => (*kind, advice),
        None => (StoreErrorKind::Other, ""),
    }
}

/// An error of Redis as one of ours.
pub(super) fn store_error(store: &str, call: &'static str, error: &RedisError) -> StoreError {
    let (kind, advice) = diagnose(error);
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

/// The retries of one call.
pub(super) struct Retry<'a> {
    store: &'a str,
    call: &'static str,
    pauses: Pauses,
}

impl<'a> Retry<'a> {
    pub(super) fn new(store: &'a str, call: &'static str) -> Self {
        let pauses = Pauses::default();
        Self {
            store,
            call,
            pauses,
        }
    }

    /// For calls that may be carried out twice: a connection that was lost while nobody used it is not the caller's trouble.
    pub(super) fn with_stale(mut self) -> Self {
        self.pauses.stale = 1;
        self
    }

    pub(super) async fn after(&mut self, error: impl Failure) -> Result<(), StoreError> {
        let error = error.into_store_error(self.store, self.call);
        self.pauses.after(error).await
    }
}

/// Why a try has failed.
pub(super) trait Failure {
    fn into_store_error(self, store: &str, call: &'static str) -> StoreError;
}

impl Failure for RedisError {
    fn into_store_error(self, store: &str, call: &'static str) -> StoreError {
        store_error(store, call, &self)
    }
}

impl Failure for StoreError {
    fn into_store_error(self, _: &str, _: &'static str) -> StoreError {
        self
    }
}

/// Tries a call until it succeeds or is not worth trying again.
macro_rules! retried {
    ($store:expr, $call:literal, $attempt:expr) => {{
        let retry = $crate::store::redis::error::Retry::new(&$store.name, $call);
        $crate::store::pauses::again!(retry, $attempt)
    }};
    (idempotent $store:expr, $call:literal, $attempt:expr) => {{
        let retry = $crate::store::redis::error::Retry::new(&$store.name, $call).with_stale();
        $crate::store::pauses::again!(retry, $attempt)
    }};
}
pub(super) use retried;
