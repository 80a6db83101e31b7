//! Committing the application's own transaction only while the lease is held.
//!
//! The check and the commit are one: the guard is the transaction's last statement before COMMIT. It
//! locks the job's row in a mode that a takeover cannot pass and a heartbeat can, and requires that
//! owner and fence are unchanged. If the lease has passed on, the row does not match (or, in a
//! snapshot, the database refuses the lock), and the transaction is rolled back. If it matches,
//! takeover waits for the commit. So under *any* pause, of this process or of the network, nothing that
//! is written under a fence commits after a greater fence was granted. What the local deadline says is
//! looked at first, but the guarantee does not rest on it.
//!
//! Each crash: before the COMMIT was carried out, the database rolls back; after it, the effect stands
//! and so does, for `complete_in`, the end of the job. A process that is paused between the guard and
//! the COMMIT holds the row, and with it the takeover: the guard therefore sets a time-out on the server
//! where it has one (Postgres: `idle_in_transaction_session_timeout`, MariaDB: `idle_transaction_timeout`, the task's ttl;
//! MySQL has none).

use std::any::Any;
use std::fmt;
use std::future::Future;

use super::lost::LeaseLost;

/// What a store puts into a lease so that its own transactions can be guarded: opaque to all others.
pub type Anchor = dyn Any + Send + Sync;

/// A transaction that can be committed under a lease: `sqlx::Transaction` of Postgres, of SQLite, and of MariaDB and MySQL.
///
/// Sealed: it is implemented for the databases of the stores.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be committed under a lease",
    label = "not a transaction of a store's database",
    note = "pass a `sqlx::Transaction` of Postgres, SQLite or MySql by value, with that feature of \
            tasklock-runtime enabled"
)]
pub trait GuardedTransaction: sealed::Guarded {}

impl<T: sealed::Guarded> GuardedTransaction for T {}

pub(crate) mod sealed {
    use super::{Anchor, CommitError, Future, LeaseLost};

    /// The part of [`GuardedTransaction`](super::GuardedTransaction) that only stores see.
    pub trait Guarded: Send + Sized {
        /// Commits if the rows that `anchors` name are still held, and ends the first one with it
        /// where `complete` says so. Rolls back in every other case. `last` is asked between the
        /// guard and the COMMIT.
        fn commit_under(
            self,
            anchors: &[&Anchor],
            complete: bool,
            last: &(dyn Fn() -> Result<(), LeaseLost> + Sync),
        ) -> impl Future<Output = Result<(), CommitError>> + Send;

        /// Rolls back, as far as the connection still allows.
        fn give_up(self) -> impl Future<Output = ()> + Send;
    }
}

/// Why a transaction was not committed under its lease.
#[derive(Debug)]
#[non_exhaustive]
pub enum CommitError {
    /// The lease is lost: rolled back.
    Lost(LeaseLost),
    /// The database asks to run the transaction again (a serialization failure, a deadlock, a lock that
    /// could not be had): rolled back. Begin it anew, unless [`check`](super::LeaseContext::check)
    /// fails by now.
    Retry(String),
    /// The reply to COMMIT was lost: it may have been carried out or not. Look for its effect before
    /// you run it again.
    Unknown(String),
    /// The transaction is not one of the database that holds the leases: rolled back.
    OtherDatabase(String),
    /// Any other error of the database: rolled back.
    Db(Box<dyn std::error::Error + Send + Sync>),
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(lost) => write!(f, "not committed: {lost}"),
            Self::Retry(why) => write!(f, "not committed, run the transaction again: {why}"),
            Self::Unknown(why) => write!(
                f,
                "the reply to COMMIT was lost, it may have been carried out or not: {why}"
            ),
            Self::OtherDatabase(why) => write!(
                f,
                "not committed: a lease guards transactions of its own database only, and this one \
                 {why}"
            ),
            Self::Db(error) => write!(f, "not committed: {error}"),
        }
    }
}

impl std::error::Error for CommitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Lost(lost) => Some(lost),
            Self::Db(error) => Some(&**error),
            Self::Retry(_) | Self::Unknown(_) | Self::OtherDatabase(_) => None,
        }
    }
}
