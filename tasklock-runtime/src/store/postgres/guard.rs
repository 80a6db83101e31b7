//! Committing a Postgres transaction under a lease.
//!
//! The lock is FOR SHARE, or FOR NO KEY UPDATE where the transaction also ends the job: takeover, finish
//! and release, which lock FOR UPDATE, wait or skip; heartbeats, which lock FOR KEY SHARE, pass. FOR KEY
//! SHARE would not do: at the snapshot isolation levels it succeeds on a row that was updated since.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{Postgres, Transaction};

use super::announce;
use super::diagnose;
use super::statements::Statements;
use crate::error::StoreErrorKind;
use crate::lease::{Anchor, CommitError, Guarded, LeaseLost};
use crate::store::Finish;
use crate::store::sql::{Columns, Hold, commit_held, no_row, refused};

pub(super) struct Guard {
    statements: Arc<Statements>,
    identity: Option<Arc<str>>,
    end: Finish,
    ttl: Duration,
}

impl Guard {
    pub(super) fn new(
        statements: Arc<Statements>,
        identity: Option<Arc<str>>,
        end: Finish,
        ttl: Duration,
    ) -> Self {
        Self {
            statements,
            identity,
            end,
            ttl,
        }
    }
}

impl Hold for Guard {
    type Database = Postgres;

    const DIAGNOSE: fn(&sqlx::Error) -> (StoreErrorKind, &'static str) = diagnose;

    const ELSEWHERE: &'static str = "is a Postgres transaction, while the leases are elsewhere";

    /// Locks the row if it is held under this lease, and writes the end.
    async fn hold(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        complete: bool,
    ) -> Result<(), CommitError> {
        let refused = |error| refused(diagnose, error);
        let statements = &self.statements;
        let lock = if complete {
            &statements.guard_to_complete
        } else {
            &statements.guard
        };
        let key = &self.end.key;
        let held: Option<i32> = sqlx::query_scalar(lock)
            .bind(key.job)
            .bind(key.fence)
            .bind(key.owner.as_str())
            .bind(self.ttl.as_millis().to_string())
            .fetch_optional(&mut **tx)
            .await
            .map_err(refused)?;
        if held.is_none() {
            let found: Option<String> = sqlx::query_scalar(&statements.identity)
                .fetch_optional(&mut **tx)
                .await
                .map_err(refused)?;
            return Err(no_row(self.identity.as_deref(), found.as_deref()));
        }
        if complete {
            let end = Columns::of(&self.end);
            sqlx::query(&statements.complete)
                .bind(key.job)
                .bind(end.next_at)
                .bind(end.next_in)
                .bind(self.end.outcome)
                .bind(end.state)
                .bind(end.counts)
                .bind(end.keep)
                .bind(end.hold)
                .bind(end.slot_at)
                .bind(end.missed)
                .bind(end.skipped)
                .bind(end.told_at)
                .bind(end.told_in)
                .execute(&mut **tx)
                .await
                .map_err(refused)?;
            if self.end.frees_place {
                announce::work(tx, statements).await.map_err(refused)?;
            }
        }
        Ok(())
    }

    async fn roll_back(tx: Transaction<'_, Postgres>) {
        // An error means that the connection is gone, and the transaction with it.
        let _ = tx.rollback().await;
    }
}

impl Guarded for Transaction<'_, Postgres> {
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
