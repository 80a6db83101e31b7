//! Acquiring named leases: one try.

use sqlx::{Connection, SqliteConnection};

use super::SqliteStore;
use super::statements::BEGIN;
use crate::fault;
use crate::lease::LeaseKey;
use crate::store::{Acquire, Acquired, span};
use crate::task::micros;

impl SqliteStore {
    pub(super) async fn acquire_once(
        &self,
        wanted: &[Acquire],
    ) -> Result<Vec<Acquired>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        fault::at("claim begun");
        let mut acquired = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            acquired.push(self.acquire_one(&mut tx, wanted).await?);
        }
        fault::at("claim to be committed");
        tx.commit().await?;
        connection.done();
        Ok(acquired)
    }

    async fn acquire_one(
        &self,
        connection: &mut SqliteConnection,
        wanted: &Acquire,
    ) -> Result<Acquired, sqlx::Error> {
        let statements = &self.statements;
        let fence: i64 = sqlx::query_scalar(&statements.next_fence)
            .fetch_one(&mut *connection)
            .await?;
        for statement in [&statements.acquire, &statements.acquire_new] {
            // To the last row: a statement that is left half-way is not ended.
            let taken: Vec<(i64, i64)> = sqlx::query_as(statement)
                .bind(&wanted.name)
                .bind(wanted.owner.as_str())
                .bind(micros(wanted.ttl))
                .bind(&wanted.worker)
                .bind(fence)
                .fetch_all(&mut *connection)
                .await?;
            if let Some((job, fence)) = taken.first() {
                return Ok(Acquired::Granted(LeaseKey {
                    job: *job,
                    fence: *fence,
                    owner: wanted.owner.clone(),
                }));
            }
        }
        let left: Vec<Option<i64>> = sqlx::query_scalar(&statements.held)
            .bind(&wanted.name)
            .fetch_all(&mut *connection)
            .await?;
        Ok(Acquired::Held(span(
            left.first().copied().flatten().unwrap_or_default(),
        )))
    }
}
