//! What the SQL stores share: control flow, retries, errors. Their statements they do not share.

mod checkout;
mod forward;
mod guard;
mod renewer;
mod retry;

use std::sync::Arc;

use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

pub(super) use checkout::Checkout;
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
