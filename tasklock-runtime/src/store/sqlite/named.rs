//! Acquiring named leases: one try.

use std::time::Duration;

use serde_json::json;
use sqlx::{Connection, SqliteConnection};

use super::statements::BEGIN;
use super::{SqliteStore, batch};
use crate::fault;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::{Acquire, Acquired, PATIENCE, span};
use crate::task::micros;

/// What stands in the way of an acquisition.
struct Look {
    /// For how long, if anything does.
    left: Option<Duration>,
    /// Whether our place in the line has to be written.
    stands: bool,
}

impl SqliteStore {
    pub(super) async fn acquire_once(
        &self,
        wanted: &[Acquire],
    ) -> Result<Vec<Acquired>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        // What is not to be had is not asked for in writing: the file would change, and whoever waits would be woken by it.
        let mut held = Vec::with_capacity(wanted.len());
        let mut writes = false;
        for wanted in wanted {
            let look = self.look(&mut connection, wanted, None).await?;
            writes |= look.stands || look.left.is_none();
            held.push(Acquired::Held(look.left.unwrap_or_default()));
        }
        if !writes {
            connection.done();
            return Ok(held);
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
        let look = self.look(connection, wanted, before).await?;
        if let Some(left) = look.left {
            if let Some(ticket) = &wanted.ticket {
                sqlx::query(&statements.stand)
                    .bind(&wanted.name)
                    .bind(ticket.as_str())
                    .bind(micros(PATIENCE))
                    .execute(&mut *connection)
                    .await?;
                sqlx::query(&statements.prune_line)
                    .execute(connection)
                    .await?;
            }
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
                if let Some(ticket) = &wanted.ticket {
                    self.left(connection, ticket).await?;
                }
                return Ok(Acquired::Granted(LeaseKey {
                    job: *job,
                    fence: *fence,
                    owner: wanted.owner.clone(),
                }));
            }
        }
        Ok(Acquired::Held(Duration::ZERO))
    }

    async fn look(
        &self,
        connection: &mut SqliteConnection,
        wanted: &Acquire,
        before: Option<&str>,
    ) -> Result<Look, sqlx::Error> {
        let statements = &self.statements;
        let held: Vec<(Option<i64>, bool)> = sqlx::query_as(&statements.held)
            .bind(&wanted.name)
            .bind(before)
            .fetch_all(&mut *connection)
            .await?;
        let ticket = wanted.ticket.as_ref().map(OwnerToken::as_str);
        let line: Vec<(String, i64, Option<i64>)> = sqlx::query_as(&statements.line)
            .bind(&wanted.name)
            .bind(ticket)
            .fetch_all(connection)
            .await?;
        let held = held
            .first()
            .and_then(|(left, ended)| left.filter(|_| !ended));
        let held = held.filter(|left| *left > 0);
        let ahead = line.first().filter(|(first, ..)| ticket != Some(first));
        let left = held.or(ahead.map(|(_, left, _)| *left)).map(span);
        let place = line.first().and_then(|(.., place)| *place);
        let lasts = place.is_some_and(|left| span(left) > PATIENCE / 2);
        Ok(Look {
            stands: left.is_some() && ticket.is_some() && !lasts,
            left,
        })
    }

    async fn left(
        &self,
        connection: &mut SqliteConnection,
        ticket: &OwnerToken,
    ) -> Result<(), sqlx::Error> {
        sqlx::query(&self.statements.leave)
            .bind(ticket.as_str())
            .execute(connection)
            .await
            .map(|_| ())
    }

    pub(super) async fn leave_once(
        &self,
        name: &str,
        ticket: &OwnerToken,
    ) -> Result<(), sqlx::Error> {
        let mut connection = self.checkout().await?;
        self.left(&mut connection, ticket).await?;
        sqlx::query(&self.statements.unpark_names)
            .bind(batch(&[name], |name| json!(name)))
            .execute(&mut *connection)
            .await?;
        connection.done();
        Ok(())
    }
}
