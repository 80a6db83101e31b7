//! What the SQL stores share: control flow, retries, errors. Their statements they do not share.

mod batch;
mod checkout;
mod fence;
mod forward;
mod guard;
#[cfg(any(feature = "sqlite", feature = "mysql"))]
pub(super) mod json;
mod renewer;
mod resources;
mod retry;

use std::sync::Arc;

use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

use crate::store::JobState;

pub(super) use super::columns::{
    Columns, FIRST, LAST, due_at, due_in, follows, follows_columns, goes_away, progress,
    progress_columns,
};
pub(super) use batch::{Batch, Written, elsewhere, uninserted};
pub(super) use checkout::Checkout;
pub(super) use fence::unregistered;
pub(super) use forward::store_verbs;
pub(super) use guard::{Hold, commit_held, no_row, refused};
pub(super) use renewer::{Beat, SqlRenewer};
pub(super) use resources::{Taken, Takings};
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) use retry::store_error;
pub(super) use retry::{Retry, TRIES, retried};

/// A statement's text. It is safe: a constant of a store's `statements`, with names that were checked.
#[derive(Debug, Clone)]
pub(super) struct Text(Arc<str>);

impl From<String> for Text {
    fn from(text: String) -> Self {
        debug_assert!(!text.contains('{'), "a placeholder is left: {text}");
        Self(text.into())
    }
}

#[cfg(feature = "mysql")]
impl Text {
    /// The text so many times.
    pub(super) fn repeated(&self, times: usize, between: &str) -> AssertSqlSafe<String> {
        AssertSqlSafe(vec![&*self.0; times].join(between))
    }

    /// The text, and placeholders or the like behind it.
    pub(super) fn with(&self, more: &str) -> AssertSqlSafe<String> {
        AssertSqlSafe(format!("{}{more}", self.0))
    }
}

impl SqlSafeStr for &Text {
    fn into_sql_str(self) -> SqlStr {
        AssertSqlSafe(Arc::clone(&self.0)).into_sql_str()
    }
}

/// A state that was read; the statements ask for no other.
pub(super) fn job_state(name: &str) -> Result<JobState, sqlx::Error> {
    JobState::of(name).ok_or_else(|| sqlx::Error::Decode(format!("the state {name:?}").into()))
}
