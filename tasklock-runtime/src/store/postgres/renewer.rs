//! The heartbeat's connection, and the calls that it shares with the store.

use std::sync::Arc;

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection};

use super::diagnose;
use super::rows::{Keys, job_row, micros};
use super::statements::{BEGIN, Statements};
use crate::error::{StoreError, StoreErrorKind};
use crate::lease::LeaseKey;
use crate::store::call::store_error;
use crate::store::{JobRow, Renewal, Renewer, StoreFuture};

pub(super) struct PgRenewer {
    name: String,
    options: PgConnectOptions,
    statements: Arc<Statements>,
    connection: Option<PgConnection>,
}

impl PgRenewer {
    pub(super) fn new(
        name: String,
        options: PgConnectOptions,
        statements: Arc<Statements>,
    ) -> Self {
        Self {
            name,
            options,
            statements,
            connection: None,
        }
    }

    fn error(&self, call: &'static str, error: sqlx::Error) -> StoreError {
        store_error(&self.name, call, diagnose, error)
    }

    fn open(&mut self) -> Result<(&mut PgConnection, &Statements), StoreError> {
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

impl Renewer for PgRenewer {
    fn connect(&mut self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if self.connection.is_none() {
                let opened = PgConnection::connect_with(&self.options).await;
                self.connection =
                    Some(opened.map_err(|error| self.error("connect for the heartbeat", error))?);
            }
            Ok(())
        })
    }

    fn renew<'a>(&'a mut self, renewals: &'a [Renewal]) -> StoreFuture<'a, Vec<i64>> {
        Box::pin(async move {
            let keys = Keys::of(renewals.iter().map(|renewal| &renewal.key));
            let ttls: Vec<i64> = renewals.iter().map(|renewal| micros(renewal.ttl)).collect();
            let (connection, statements) = self.open()?;
            sqlx::query_scalar(&statements.renew)
                .bind(keys.jobs)
                .bind(keys.fences)
                .bind(keys.owners)
                .bind(ttls)
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

    fn release<'a>(&'a mut self, keys: &'a [LeaseKey]) -> StoreFuture<'a, Vec<i64>> {
        Box::pin(async move {
            let (connection, statements) = self.open()?;
            release(connection, statements, keys)
                .await
                .map_err(|error| self.error("release", error))
        })
    }

    fn reset(&mut self) {
        self.connection = None;
    }
}

pub(super) async fn inspect(
    connection: &mut PgConnection,
    statements: &Statements,
    jobs: &[i64],
) -> Result<Vec<JobRow>, sqlx::Error> {
    let rows = sqlx::query(&statements.inspect)
        .bind(jobs)
        .fetch_all(connection)
        .await?;
    rows.iter().map(job_row).collect()
}

/// Gives leases back, and tells other workers.
pub(super) async fn release(
    connection: &mut PgConnection,
    statements: &Statements,
    keys: &[LeaseKey],
) -> Result<Vec<i64>, sqlx::Error> {
    let keys = Keys::of(keys.iter());
    let mut tx = connection.begin_with(BEGIN).await?;
    let released: Vec<i64> = sqlx::query_scalar(&statements.release)
        .bind(keys.jobs)
        .bind(keys.fences)
        .bind(keys.owners)
        .fetch_all(&mut *tx)
        .await?;
    sqlx::query(&statements.drop_beats)
        .bind(&released)
        .execute(&mut *tx)
        .await?;
    if !released.is_empty() {
        announce(&mut tx, statements).await?;
    }
    tx.commit().await?;
    Ok(released)
}

/// Wakes every worker that listens, at the commit of the transaction.
pub(super) async fn announce(
    connection: &mut PgConnection,
    statements: &Statements,
) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_notify($1, '')")
        .bind(&statements.channel)
        .execute(connection)
        .await
        .map(|_| ())
}
