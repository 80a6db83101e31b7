//! What the heartbeat says to the server, and what it shares with the store.

use sqlx::{Connection, MySql, MySqlConnection};

use super::diagnose;
use super::rows::job_row;
use super::session::Use;
use super::statements::{BEGIN, Statements};
use crate::lease::LeaseKey;
use crate::store::sql::Beat;
use crate::store::sql::json::{batch, keys, renewals};
use crate::store::{JobRow, Renewal};

impl Beat for Statements {
    type Database = MySql;
    type Session = ();

    const DIAGNOSE: fn(&sqlx::Error) -> (crate::error::StoreErrorKind, &'static str) = diagnose;

    async fn opened(&self, connection: &mut MySqlConnection) -> Result<(), sqlx::Error> {
        self.server.prepare(connection, Use::Heartbeat).await
    }

    /// The rows are locked in a shared mode first: so none of these leases is taken over or ends before its renewal is committed,
    /// and it is known which they are. A count of affected rows would tell nothing.
    async fn renew(
        &self,
        connection: &mut MySqlConnection,
        (): (),
        leases: &[Renewal],
    ) -> Result<Vec<i64>, sqlx::Error> {
        let mut tx = connection.begin_with(BEGIN).await?;
        let asked: Vec<LeaseKey> = leases.iter().map(|renewal| renewal.key.clone()).collect();
        let held: Vec<i64> = sqlx::query_scalar(&self.lock_to_renew)
            .bind(keys(&asked))
            .fetch_all(&mut *tx)
            .await?;
        if !held.is_empty() {
            // Of two leases of one job, one of which is spent, the newer is held.
            let newest = |renewal: &&Renewal| {
                let key = &renewal.key;
                held.contains(&key.job)
                    && asked
                        .iter()
                        .all(|other| other.job != key.job || other.fence <= key.fence)
            };
            let mut held: Vec<Renewal> = leases.iter().filter(newest).cloned().collect();
            held.sort_by_key(|renewal| renewal.key.job);
            sqlx::query(&self.renew)
                .bind(renewals(&held))
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await?;
        Ok(held)
    }

    async fn inspect(
        &self,
        connection: &mut MySqlConnection,
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
        connection: &mut MySqlConnection,
        _: Option<()>,
        leases: &[LeaseKey],
    ) -> Result<Vec<i64>, sqlx::Error> {
        self.give_back(connection, leases).await
    }

    /// Whoever waits by hand asks again by itself.
    async fn tell(&self, connection: &mut MySqlConnection, leases: &[LeaseKey]) {
        self.unpark(connection, leases).await;
    }
}
