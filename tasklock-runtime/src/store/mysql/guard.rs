//! Committing a MariaDB or MySQL transaction under a lease.
//!
//! The lock is a shared one, or an exclusive one where the transaction also ends the job: takeover, finish and release skip the row
//! meanwhile, and heartbeats pass a shared one. A locking read sees the newest row, whatever the transaction's snapshot.
//!
//! A process that is stopped between the guard and its COMMIT holds the row. MariaDB ends its transaction after a ttl, by a session
//! variable that is put back right before the COMMIT. MySQL has none of the kind: there the row is held until the connection is lost.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{Executor, MySql, MySqlConnection, Transaction};

use super::statements::Statements;
use super::{Server, diagnose};
use crate::error::StoreErrorKind;
use crate::lease::{Anchor, CommitError, Guarded, LeaseLost};
use crate::store::Finish;
use crate::store::sql::json::ends;
use crate::store::sql::{Hold, commit_held, no_row, refused};

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

    /// From here on the server ends the transaction if nothing is heard for so long, or for less where the session says so; it counts in
    /// seconds, and 0 is for ever.
    async fn bound(&self, tx: &mut MySqlConnection) -> Result<(), sqlx::Error> {
        if self.statements.server == Server::MySql {
            return Ok(());
        }
        let seconds = self.ttl.as_millis().div_ceil(1_000).max(1);
        run(
            tx,
            format!(
                "SET @tasklock_idle = CAST(COALESCE(@tasklock_idle, @@SESSION.idle_transaction_timeout) AS SIGNED); \
                 SET SESSION idle_transaction_timeout = IF(@@SESSION.idle_transaction_timeout = 0, {seconds}, \
                 LEAST(@@SESSION.idle_transaction_timeout, {seconds}))"
            ),
        )
        .await
    }
}

/// A variable that was set to NULL is a text from then on.
const UNBOUND: &str = "SET SESSION idle_transaction_timeout = \
    CAST(COALESCE(@tasklock_idle, @@SESSION.idle_transaction_timeout) AS SIGNED), @tasklock_idle = NULL";

impl Hold for Guard {
    type Database = MySql;

    const DIAGNOSE: fn(&sqlx::Error) -> (StoreErrorKind, &'static str) = diagnose;

    const ELSEWHERE: &'static str =
        "is a MariaDB or MySQL transaction, while the leases are elsewhere";

    /// Locks the row if it is held under this lease, and writes the end.
    async fn hold(
        &self,
        tx: &mut Transaction<'_, MySql>,
        complete: bool,
    ) -> Result<(), CommitError> {
        let refused = |error| refused(diagnose, error);
        let statements = &self.statements;
        let key = &self.end.key;
        self.bound(tx).await.map_err(refused)?;
        let held = if complete {
            let locked = sqlx::query(&statements.guard_to_complete)
                .bind(ends(&[&self.end]))
                .fetch_all(&mut **tx)
                .await
                .map_err(refused)?;
            let ended = statements.write_ends(tx, &locked).await.map_err(refused)?;
            !ended.is_empty()
        } else {
            let held: Option<i64> = sqlx::query_scalar(&statements.guard)
                .bind(key.job)
                .bind(key.fence)
                .bind(key.owner.as_str())
                .fetch_optional(&mut **tx)
                .await
                .map_err(refused)?;
            held.is_some()
        };
        if held {
            return Ok(());
        }
        let found: Option<(String, u64)> = sqlx::query_as(&statements.identity)
            .fetch_optional(&mut **tx)
            .await
            .map_err(refused)?;
        let found = found.map(|(id, _)| id);
        Err(no_row(self.identity.as_deref(), found.as_deref()))
    }

    /// The variable is put back first, so that the end is sqlx's own: of a nested transaction it is that of the savepoint alone. A
    /// process that stops between the two statements holds the row until its connection is lost.
    async fn commit(mut tx: Transaction<'_, MySql>) -> Result<(), sqlx::Error> {
        unbound(&mut tx).await?;
        tx.commit().await
    }

    async fn roll_back(mut tx: Transaction<'_, MySql>) {
        let _ = unbound(&mut tx).await;
        // An error means that the connection is gone, and the transaction with it.
        let _ = tx.rollback().await;
    }
}

/// MySQL knows no such variable, and nothing was set there.
async fn unbound(connection: &mut MySqlConnection) -> Result<(), sqlx::Error> {
    let set: Option<i64> = sqlx::query_scalar("SELECT @tasklock_idle IS NOT NULL")
        .fetch_optional(&mut *connection)
        .await?;
    if set == Some(1) {
        run(connection, UNBOUND.to_owned()).await?;
    }
    Ok(())
}

async fn run(connection: &mut MySqlConnection, sql: String) -> Result<(), sqlx::Error> {
    connection
        .execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql)))
        .await
        .map(|_| ())
}

impl Guarded for Transaction<'_, MySql> {
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
