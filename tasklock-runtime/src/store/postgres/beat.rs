//! What the heartbeat says to Postgres, and what it shares with the store.

use sqlx::{Connection, PgConnection, Postgres};

use super::diagnose;
use super::rows::{Keys, job_row};
use super::statements::{BEGIN, Statements};
use crate::lease::LeaseKey;
use crate::store::sql::{Beat, progress_columns};
use crate::store::{JobRow, Renewal};
use crate::task::micros;

/// The isolation level of a statement without a transaction of its own, as the server, the database or
/// the role sets it. Under a stricter one than READ COMMITTED, a renewal would fail as a whole because
/// of one row that is being taken; then it needs a transaction, and two more round trips.
#[derive(Debug, Clone, Copy)]
pub(super) enum Default {
    ReadCommitted,
    Stricter,
}

impl Beat for Statements {
    type Database = Postgres;
    type Session = Default;

    const DIAGNOSE: fn(&sqlx::Error) -> (crate::error::StoreErrorKind, &'static str) = diagnose;

    async fn opened(&self, connection: &mut PgConnection) -> Result<Default, sqlx::Error> {
        let plain: bool = sqlx::query_scalar(
            "SELECT current_setting('default_transaction_isolation') = 'read committed' \
             AND current_setting('synchronous_commit') <> 'off'",
        )
        .fetch_one(connection)
        .await?;
        Ok(if plain {
            Default::ReadCommitted
        } else {
            Default::Stricter
        })
    }

    async fn renew(
        &self,
        connection: &mut PgConnection,
        default: Default,
        renewals: &[Renewal],
    ) -> Result<Vec<i64>, sqlx::Error> {
        let keys = Keys::of(renewals.iter().map(|renewal| &renewal.key));
        let ttls: Vec<i64> = renewals.iter().map(|renewal| micros(renewal.ttl)).collect();
        let (done, total): (Vec<_>, Vec<_>) = renewals
            .iter()
            .map(|renewal| progress_columns(renewal.progress))
            .unzip();
        let renew = sqlx::query_scalar(&self.renew)
            .bind(keys.jobs)
            .bind(keys.fences)
            .bind(keys.owners)
            .bind(ttls)
            .bind(done)
            .bind(total);
        match default {
            Default::ReadCommitted => renew.fetch_all(connection).await,
            Default::Stricter => {
                let mut tx = connection.begin_with(BEGIN).await?;
                let renewed = renew.fetch_all(&mut *tx).await?;
                tx.commit().await?;
                Ok(renewed)
            }
        }
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

    /// One statement, without a transaction of its own where READ COMMITTED is known to be the default.
    async fn release(
        &self,
        connection: &mut PgConnection,
        default: Option<Default>,
        keys: &[LeaseKey],
    ) -> Result<Vec<i64>, sqlx::Error> {
        let keys = Keys::of(keys.iter());
        let release = sqlx::query_scalar(&self.release)
            .bind(keys.jobs)
            .bind(keys.fences)
            .bind(keys.owners)
            .bind(&self.channel);
        match default {
            Some(Default::ReadCommitted) => release.fetch_all(connection).await,
            Some(Default::Stricter) | None => {
                let mut tx = connection.begin_with(BEGIN).await?;
                let released = release.fetch_all(&mut *tx).await?;
                tx.commit().await?;
                Ok(released)
            }
        }
    }

    async fn tell(&self, connection: &mut PgConnection, keys: &[LeaseKey]) {
        let jobs: Vec<i64> = keys.iter().map(|key| key.job).collect();
        self.free_awaited(connection, &jobs).await;
    }
}
