//! What the heartbeat says to SQLite, and what it shares with the store.

use sqlx::{Sqlite, SqliteConnection};

use super::rows::job_row;
use super::statements::Statements;
use super::{FileId, batch, diagnose};
use crate::lease::LeaseKey;
use crate::store::sql::Beat;
use crate::store::sql::json::{keys, renewals};
use crate::store::{JobRow, Renewal};

impl Beat for Statements {
    type Database = Sqlite;
    type Session = FileId;

    const DIAGNOSE: fn(&sqlx::Error) -> (crate::error::StoreErrorKind, &'static str) = diagnose;

    async fn opened(&self, _: &mut SqliteConnection) -> Result<FileId, sqlx::Error> {
        FileId::of(&self.path)
    }

    async fn renew(
        &self,
        connection: &mut SqliteConnection,
        open: FileId,
        leases: &[Renewal],
    ) -> Result<Vec<i64>, sqlx::Error> {
        open.still(&self.path)?;
        sqlx::query_scalar(&self.renew)
            .bind(renewals(leases))
            .fetch_all(connection)
            .await
    }

    async fn inspect(
        &self,
        connection: &mut SqliteConnection,
        jobs: &[i64],
    ) -> Result<Vec<JobRow>, sqlx::Error> {
        let rows = sqlx::query(&self.inspect)
            .bind(batch(jobs, |job| job))
            .fetch_all(connection)
            .await?;
        rows.iter().map(job_row).collect()
    }

    async fn release(
        &self,
        connection: &mut SqliteConnection,
        _: Option<FileId>,
        leases: &[LeaseKey],
    ) -> Result<Vec<i64>, sqlx::Error> {
        sqlx::query_scalar(&self.release)
            .bind(keys(leases))
            .fetch_all(connection)
            .await
    }

    /// Whoever waits by hand sees that the file has changed.
    async fn tell(&self, connection: &mut SqliteConnection, leases: &[LeaseKey]) {
        self.unpark(connection, leases).await;
    }
}
