//! Verbs of a few statements, each one try: the store's trait adds the retries.

use sqlx::{Connection, MySql};

use super::MySqlStore;
use super::rows::job_row;
use super::statements::BEGIN;
use crate::store::sql::{Beat, Checkout};
use crate::store::{JobRow, Triggered};

impl MySqlStore {
    pub(super) async fn checkout(&self) -> Result<Checkout<MySql>, sqlx::Error> {
        Checkout::from(&self.pool).await
    }

    /// Wakes the workers of this process.
    pub(super) fn tell(&self) {
        self.written.notify_waiters();
    }

    pub(super) async fn trigger_once(&self, task: &str) -> Result<Option<Triggered>, sqlx::Error> {
        let statements = &self.statements;
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let job: Option<i64> = sqlx::query_scalar(&statements.standing_of)
            .bind(task)
            .bind(task)
            .fetch_optional(&mut *tx)
            .await?;
        let mut found = None;
        if let Some(job) = job {
            // Without a lock first: a guarded transaction may have a running row for long. And once more behind it: a statement
            // that has waited for the lock shows the clock as it was before.
            for (statement, locked) in [
                (&statements.trigger_read, false),
                (&statements.trigger_lock, false),
                (&statements.trigger_read, true),
            ] {
                let row: Option<(bool, bool)> = sqlx::query_as(statement)
                    .bind(job)
                    .fetch_optional(&mut *tx)
                    .await?;
                found = match row {
                    None => None,
                    Some((false, _)) => Some(Triggered::AlreadyRunning),
                    Some((true, true)) => Some(Triggered::AlreadyQueued),
                    Some((true, false)) => Some(Triggered::Queued),
                };
                if found != Some(Triggered::Queued) {
                    break;
                }
                if locked {
                    sqlx::query(&statements.trigger)
                        .bind(job)
                        .execute(&mut *tx)
                        .await?;
                }
            }
        }
        tx.commit().await?;
        connection.done();
        self.tell();
        Ok(found)
    }

    pub(super) async fn now_once(&self) -> Result<i64, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let now = sqlx::query_scalar(&self.statements.now)
            .fetch_one(&mut *connection)
            .await?;
        connection.done();
        Ok(now)
    }

    pub(super) async fn standing_once(&self, task: &str) -> Result<Option<JobRow>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let row = sqlx::query(&self.statements.standing)
            .bind(task)
            .fetch_optional(&mut *connection)
            .await?;
        connection.done();
        row.as_ref().map(job_row).transpose()
    }

    pub(super) async fn inspect_once(&self, jobs: &[i64]) -> Result<Vec<JobRow>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let rows = self.statements.inspect(&mut connection, jobs).await?;
        connection.done();
        Ok(rows)
    }
}
