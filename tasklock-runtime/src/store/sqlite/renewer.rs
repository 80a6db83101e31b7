//! The heartbeat's connection.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection, SqliteConnection};

use super::rows::{job_row, keys, renewals};
use super::statements::Statements;
use super::{batch, diagnose};
use crate::error::{StoreError, StoreErrorKind};
use crate::lease::LeaseKey;
use crate::store::call::store_error;
use crate::store::{JobRow, Renewal, Renewer, StoreFuture};

/// Short, for a call that is given up goes on waiting in its connection's thread; the heartbeat itself
/// tries again.
const BUSY: Duration = Duration::from_millis(100);

pub(super) struct SqliteRenewer {
    name: String,
    options: SqliteConnectOptions,
    statements: Arc<Statements>,
    connection: Option<SqliteConnection>,
}

impl SqliteRenewer {
    pub(super) fn new(
        name: String,
        options: SqliteConnectOptions,
        statements: Arc<Statements>,
    ) -> Self {
        Self {
            name,
            // A file that has gone must not come back empty.
            options: options.busy_timeout(BUSY).create_if_missing(false),
            statements,
            connection: None,
        }
    }

    fn error(&self, call: &'static str, error: sqlx::Error) -> StoreError {
        store_error(&self.name, call, diagnose, error)
    }

    fn open(&mut self) -> Result<(&mut SqliteConnection, &Statements), StoreError> {
        match &mut self.connection {
            Some(connection) => Ok((connection, &self.statements)),
            None => Err(StoreError {
                store: self.name.clone(),
                call: "renew leases",
                kind: StoreErrorKind::Unavailable,
                message: "not connected".into(),
            }),
        }
    }
}

impl Renewer for SqliteRenewer {
    fn connect(&mut self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if self.connection.is_none() {
                let opened = SqliteConnection::connect_with(&self.options).await;
                self.connection =
                    Some(opened.map_err(|error| self.error("connect for the heartbeat", error))?);
            }
            Ok(())
        })
    }

    fn renew<'a>(&'a mut self, leases: &'a [Renewal]) -> StoreFuture<'a, Vec<i64>> {
        Box::pin(async move {
            let (connection, statements) = self.open()?;
            sqlx::query_scalar(&statements.renew)
                .bind(renewals(leases))
                .fetch_all(connection)
                .await
                .map_err(|error| self.error("renew leases", error))
        })
    }

    fn inspect<'a>(&'a mut self, jobs: &'a [i64]) -> StoreFuture<'a, Vec<JobRow>> {
        Box::pin(async move {
            let (connection, statements) = self.open()?;
            inspect(connection, statements, jobs)
                .await
                .map_err(|error| self.error("read leases back", error))
        })
    }

    fn release<'a>(&'a mut self, leases: &'a [LeaseKey]) -> StoreFuture<'a, Vec<i64>> {
        Box::pin(async move {
            let (connection, statements) = self.open()?;
            sqlx::query_scalar(&statements.release)
                .bind(keys(leases))
                .fetch_all(connection)
                .await
                .map_err(|error| self.error("release", error))
        })
    }

    fn reset(&mut self) {
        self.connection = None;
    }
}

pub(super) async fn inspect(
    connection: &mut SqliteConnection,
    statements: &Statements,
    jobs: &[i64],
) -> Result<Vec<JobRow>, sqlx::Error> {
    let rows = sqlx::query(&statements.inspect)
        .bind(batch(jobs, |job| json!(job)))
        .fetch_all(connection)
        .await?;
    rows.iter().map(job_row).collect()
}
