//! What the heartbeat says to Postgres, and what it shares with the store.

use sqlx::{Connection, PgConnection, Postgres};

use super::diagnose;
use super::rows::{Keys, job_row};
use super::statements::{BEGIN, Statements};
use crate::lease::LeaseKey;
use crate::store::sql::Beat;
use crate::store::{JobRow, Renewal};
use crate::task::micros;

impl Beat for Statements {
    type Database = Postgres;

    const DIAGNOSE: fn(&sqlx::Error) -> (crate::error::StoreErrorKind, &'static str) = diagnose;

    async fn renew(
        &self,
        connection: &mut PgConnection,
        renewals: &[Renewal],
    ) -> Result<Vec<i64>, sqlx::Error> {
        let keys = Keys::of(renewals.iter().map(|renewal| &renewal.key));
        let ttls: Vec<i64> = renewals.iter().map(|renewal| micros(renewal.ttl)).collect();
        sqlx::query_scalar(&self.renew)
            .bind(keys.jobs)
            .bind(keys.fences)
            .bind(keys.owners)
            .bind(ttls)
            .fetch_all(connection)
            .await
    }

    async fn inspect(
        &self,
        connection: &mut PgConnection,
        jobs: &[i64],
    ) -> Result<Vec<JobRow>, sqlx::Error> {
        let rows = sqlx::query(&self.inspect)
            .bind(jobs)
            .fetch_all(connection)
            .await?;
        rows.iter().map(job_row).collect()
    }

    /// Gives leases back, and tells other workers.
    async fn release(
        &self,
        connection: &mut PgConnection,
        keys: &[LeaseKey],
    ) -> Result<Vec<i64>, sqlx::Error> {
        let keys = Keys::of(keys.iter());
        let mut tx = connection.begin_with(BEGIN).await?;
        let released: Vec<i64> = sqlx::query_scalar(&self.release)
            .bind(keys.jobs)
            .bind(keys.fences)
            .bind(keys.owners)
            .fetch_all(&mut *tx)
            .await?;
        sqlx::query(&self.drop_beats)
            .bind(&released)
            .execute(&mut *tx)
            .await?;
        if !released.is_empty() {
            announce(&mut tx, self).await?;
        }
        tx.commit().await?;
        Ok(released)
    }
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
