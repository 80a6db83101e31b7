//! Enqueueing in the application's own transaction.

use std::future::Future;

use super::{Enqueued, NewJob};
use crate::error::Error;
use crate::lease::Anchor;

/// A transaction in which jobs can be enqueued: `sqlx::Transaction` of Postgres, of SQLite, and of MariaDB and MySQL, or
/// a connection of theirs.
///
/// Sealed: it is implemented for the databases of the stores.
#[diagnostic::on_unimplemented(
    message = "jobs cannot be enqueued in `{Self}`",
    label = "not a transaction of a store's database",
    note = "pass `&mut tx`, a `sqlx::Transaction` of Postgres, SQLite or MySql, with that feature of \
            tasklock-runtime enabled"
)]
pub trait EnqueueTransaction: Inserting {}

impl<T: Inserting + ?Sized> EnqueueTransaction for T {}

/// The part of [`EnqueueTransaction`] that only stores see.
pub trait Inserting: Send {
    /// Inserts the jobs, if `insertion` is of this transaction's database.
    fn insert(
        &mut self,
        insertion: &Anchor,
        jobs: &[NewJob],
    ) -> impl Future<Output = Result<Vec<Enqueued>, Error>> + Send;
}
