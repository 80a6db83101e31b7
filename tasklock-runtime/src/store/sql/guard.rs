//! What the guards of the SQL stores share: which error means what.

use crate::error::StoreErrorKind;
use crate::lease::CommitError;

use super::retry::Diagnose;

/// An error of a guard's statement: nothing was committed.
pub(in crate::store) fn refused(diagnose: Diagnose, error: sqlx::Error) -> CommitError {
    match diagnose(&error).0 {
        StoreErrorKind::Busy => CommitError::Retry(error.to_string()),
        StoreErrorKind::Schema => {
            CommitError::OtherDatabase(format!("has no tasklock tables ({error})"))
        }
        _ => CommitError::Db(error.into()),
    }
}

/// An error of COMMIT itself: what the database says of it was not carried out; when it says nothing,
/// nobody knows.
pub(in crate::store) fn uncommitted(diagnose: Diagnose, error: sqlx::Error) -> CommitError {
    match (error.as_database_error(), diagnose(&error).0) {
        (Some(_), StoreErrorKind::Busy) => CommitError::Retry(error.to_string()),
        (Some(_), StoreErrorKind::Unavailable) | (None, _) => {
            CommitError::Unknown(error.to_string())
        }
        (Some(_), _) => CommitError::Db(error.into()),
    }
}

/// No row is held under this lease: because it is lost, or because this is not the leases' database.
pub(in crate::store) fn no_row(ours: Option<&str>, found: Option<&str>) -> CommitError {
    match (ours, found) {
        (Some(ours), Some(found)) if ours != found => {
            CommitError::OtherDatabase("belongs to another tasklock store".into())
        }
        (Some(_), None) => {
            CommitError::OtherDatabase("belongs to a database without a store".into())
        }
        _ => CommitError::Lost(crate::lease::LeaseLost::TakenOver),
    }
}
