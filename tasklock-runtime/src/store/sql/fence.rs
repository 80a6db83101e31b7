//! What the fence tables share: which error means what.

use crate::error::StoreErrorKind;
use crate::lease::FenceError;
use crate::store::schema::{Dialect, fence_table_sql};

use super::retry::Diagnose;

/// An error of a statement on the fence table: nothing is registered.
pub(in crate::store) fn unregistered(
    diagnose: Diagnose,
    dialect: Dialect,
    error: sqlx::Error,
) -> FenceError {
    match diagnose(&error).0 {
        StoreErrorKind::Busy => FenceError::Retry(error.to_string()),
        StoreErrorKind::Schema => FenceError::NoTable {
            found: error.to_string(),
            sql: fence_table_sql(dialect),
        },
        _ => FenceError::Db(error.into()),
    }
}
