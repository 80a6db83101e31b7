//! What the SQL stores share: control flow, retries, errors. Their statements they do not share.

mod checkout;
mod fence;
mod forward;
mod guard;
mod renewer;
mod retry;

use std::sync::Arc;

use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

use crate::task::{Next, micros};

pub(super) use checkout::Checkout;
pub(super) use fence::unregistered;
pub(super) use forward::store_verbs;
pub(super) use guard::{Hold, commit_held, no_row, refused};
pub(super) use renewer::{Beat, SqlRenewer};
#[cfg(feature = "postgres")]
pub(super) use retry::store_error;
pub(super) use retry::{Retry, retried};

/// A statement's text. It is safe: a constant of a store's `statements`, with names that were checked.
#[derive(Debug, Clone)]
pub(super) struct Text(Arc<str>);

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl SqlSafeStr for &Text {
    fn into_sql_str(self) -> SqlStr {
        AssertSqlSafe(Arc::clone(&self.0)).into_sql_str()
    }
}

/// The first and the last instant that a store tells or writes: the years 1 and 9999. What a row says
/// beyond them, infinity included, is cut to them, so that no sum of instants overflows.
pub(super) const FIRST: i64 = -62_135_596_800_000_000;
pub(super) const LAST: i64 = 253_402_300_799_000_000;

/// The instant at which a job falls due again, if it is known.
pub(super) fn next_at(next: Next) -> Option<i64> {
    match next {
        Next::At(at) => Some(at.clamp(FIRST, LAST)),
        Next::In(_) | Next::Dormant => None,
    }
}

/// How long after its end a job falls due again, in microseconds, if that is what is known.
pub(super) fn next_in(next: Next) -> Option<i64> {
    match next {
        Next::In(delay) => Some(micros(delay).min(LAST)),
        Next::At(_) | Next::Dormant => None,
    }
}
