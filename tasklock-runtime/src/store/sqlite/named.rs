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
        // What is held is not asked for in writing: the file would change, and whoever waits would be woken by it.
        let mut held = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            held.push(self.left(&mut connection, &wanted.name).await?);
        }
        if held.iter().all(|left| !left.is_zero()) {
            connection.done();
            return Ok(held.into_iter().map(Acquired::Held).collect());
        }
        let mut tx = connection.begin_with(BEGIN).await?;
        fault::at("claim begun");
        let mut acquired = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            acquired.push(self.acquire_one(&mut tx, wanted, None).await?);
        }
        fault::at("claim to be committed");
        tx.commit().await?;
        connection.done();
        Ok(acquired)
    }

    /// `before`: whose lease on the name has ended, whatever its row says.
    pub(super) async fn acquire_one(
        &self,
        connection: &mut SqliteConnection,
        wanted: &Acquire,
        before: Option<&str>,
    ) -> Result<Acquired, sqlx::Error> {
        let statements = &self.statements;
        let left = self.left(connection, &wanted.name).await?;
        if !left.is_zero() && before.is_none() {
            return Ok(Acquired::Held(left));
        }
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
                .bind(before)
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
        Ok(Acquired::Held(std::time::Duration::ZERO))
    }

    /// How long a name is still held; zero if it is not.
    async fn left(
        &self,
        connection: &mut SqliteConnection,
        name: &str,
    ) -> Result<std::time::Duration, sqlx::Error> {
        let left: Vec<Option<i64>> = sqlx::query_scalar(&self.statements.held)
            .bind(name)
            .fetch_all(connection)
            .await?;
        Ok(span(left.first().copied().flatten().unwrap_or_default()))
    }
}
