//! Committing a SQLite transaction under a lease.
//!
//! The guard writes. A read in a deferred transaction would pass on a snapshot that is older than a
//! takeover; a write needs the file's one write lock at its newest state, and keeps it until the
//! commit.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{Sqlite, Transaction};

use super::diagnose;
use super::statements::Statements;
use crate::error::StoreErrorKind;
use crate::lease::{Anchor, CommitError, Guarded, LeaseLost};
use crate::store::Finish;
use crate::store::sql::json::ends;
use crate::store::sql::{Hold, commit_held, no_row, refused};

pub(super) struct Guard {
    statements: Arc<Statements>,
    identity: Option<Arc<str>>,
    end: Finish,
}

impl Guard {
    /// The ttl is of no use here: SQLite ends no idle transaction.
    pub(super) fn new(
        statements: Arc<Statements>,
        identity: Option<Arc<str>>,
        end: Finish,
        _ttl: Duration,
    ) -> Self {
        Self {
            statements,
            identity,
            end,
        }
    }
}

impl Hold for Guard {
    type Database = Sqlite;

    const DIAGNOSE: fn(&sqlx::Error) -> (StoreErrorKind, &'static str) = diagnose;

    const ELSEWHERE: &'static str = "is a SQLite transaction, while the leases are elsewhere";

    /// Writes to the row, or ends the job, if it is held under this lease.
    async fn hold(
        &self,
        tx: &mut Transaction<'_, Sqlite>,
        complete: bool,
    ) -> Result<(), CommitError> {
        let refused = |error| refused(diagnose, error);
        let key = &self.end.key;
        // To the last row: a statement that is left half-way is not ended.
        let held: Vec<i64> = if complete {
            sqlx::query_scalar(&self.statements.finish)
                .bind(ends(&[&self.end]))
                .fetch_all(&mut **tx)
                .await
        } else {
            sqlx::query_scalar(&self.statements.guard)
                .bind(key.job)
                .bind(key.fence)
                .bind(key.owner.as_str())
                .fetch_all(&mut **tx)
                .await
        }
        .map_err(refused)?;
        if !held.is_empty() {
            return Ok(());
        }
        let found: Option<String> = sqlx::query_scalar(&self.statements.identity)
            .fetch_optional(&mut **tx)
            .await
            .map_err(refused)?;
        Err(no_row(self.identity.as_deref(), found.as_deref()))
    }

    /// After some errors (a full disk, one of input or output) SQLite has rolled back by itself. sqlx does
    /// not notice, fails to roll back, and would hand out the connection as one in a transaction for ever:
    /// so there is one to roll back.
    async fn roll_back(mut tx: Transaction<'_, Sqlite>) {
        // An error means that there still is one.
        let _ = sqlx::raw_sql("BEGIN").execute(&mut *tx).await;
        let _ = tx.rollback().await;
    }
}

impl Guarded for Transaction<'_, Sqlite> {
    async fn commit_under(
        self,
        anchors: &[&Anchor],
        complete: bool,
        last: &(dyn Fn() -> Result<(), LeaseLost> + Sync),
    ) -> Result<(), CommitError> {
        commit_held::<Guard>(self, anchors, complete, last).await
    }

    async fn give_up(self) {
        Guard::roll_back(self).await;
    }
}
