//! What the guards of the SQL stores share: the order of the steps, and which error means what.

use sqlx::{Database, Transaction};

use crate::error::StoreErrorKind;
use crate::fault;
use crate::lease::{Anchor, CommitError, LeaseLost, Unguarded};

use super::retry::Diagnose;

/// One database's guard: what its stores put into a lease.
pub(in crate::store) trait Hold: Send + Sync + 'static {
    type Database: Database;

    const DIAGNOSE: Diagnose;

    /// What a transaction of this database is, where the leases are in another store.
    const ELSEWHERE: &'static str;

    /// Locks the job's row if it is held under this lease, and writes the end.
    fn hold(
        &self,
        tx: &mut Transaction<'_, Self::Database>,
        complete: bool,
    ) -> impl Future<Output = Result<(), CommitError>> + Send;

    /// Commits what is held.
    fn commit(
        tx: Transaction<'_, Self::Database>,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send {
        tx.commit()
    }

    /// Rolls back, as far as the connection still allows.
    fn roll_back(tx: Transaction<'_, Self::Database>) -> impl Future<Output = ()> + Send;
}

/// Commits if the guard holds and `last` agrees; rolls back in every other case, since an error may
/// leave a transaction open whose COMMIT would keep its effects.
pub(in crate::store) async fn commit_held<H: Hold>(
    mut tx: Transaction<'_, H::Database>,
    anchors: &[&Anchor],
    complete: bool,
    last: &(dyn Fn() -> Result<(), LeaseLost> + Sync),
) -> Result<(), CommitError> {
    fault::at("guard to be sent");
    // A lease of a test has this one alone.
    let unguarded = anchors.first().and_then(|anchor| Unguarded::of(*anchor));
    let held = match unguarded {
        Some(in_a_test) => in_a_test.hold(),
        None => hold_all::<H>(&mut tx, anchors, complete).await,
    };
    match held.and_then(|()| last().map_err(CommitError::Lost)) {
        Ok(()) => {
            fault::at("guard held");
            let committed = H::commit(tx).await;
            fault::at("guarded transaction committed");
            if let (Ok(()), Some(in_a_test), true) = (&committed, unguarded, complete) {
                in_a_test.complete();
            }
            committed.map_err(|error| uncommitted(H::DIAGNOSE, error))
        }
        Err(error) => {
            H::roll_back(tx).await;
            Err(error)
        }
    }
}

/// In the order given, which all holders of the same leases share.
async fn hold_all<H: Hold>(
    tx: &mut Transaction<'_, H::Database>,
    anchors: &[&Anchor],
    complete: bool,
) -> Result<(), CommitError> {
    for (place, anchor) in anchors.iter().enumerate() {
        let Some(guard) = anchor.downcast_ref::<H>() else {
            return Err(CommitError::OtherDatabase(H::ELSEWHERE.into()));
        };
        guard.hold(tx, complete && place == 0).await?;
    }
    Ok(())
}

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
fn uncommitted(diagnose: Diagnose, error: sqlx::Error) -> CommitError {
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
