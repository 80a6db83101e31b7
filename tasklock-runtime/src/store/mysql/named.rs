//! Acquiring named leases: one try, of many names, in one transaction.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;
use sqlx::{Connection, MySqlConnection};

use super::statements::{BEGIN, Statements};
use super::{MySqlStore, column};
use crate::fault;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::json::batch;
use crate::store::{Acquire, Acquired, PATIENCE, span};
use crate::task::micros;

/// An acquisition, and whose lease on the name has ended, whatever its row says.
pub(super) type Try<'a> = (&'a Acquire, Option<&'a OwnerToken>);

/// What came of a call.
#[derive(Default)]
pub(super) struct Answer {
    /// The leases by their names.
    pub(super) granted: HashMap<String, LeaseKey>,
    /// For how long others have the rest, or may take it.
    held: HashMap<String, Duration>,
}

/// A row that may be had.
struct Free {
    id: i64,
    name: String,
    fence: i64,
    stray: bool,
}

impl MySqlStore {
    pub(super) async fn acquire_once(
        &self,
        wanted: &[Acquire],
        // All or nothing.
        (): &mut (),
    ) -> Result<Vec<Acquired>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let statements = &self.statements;
        let mut answer = statements.acquire_all(&mut connection, wanted).await?;
        // Whoever stands in the line from now on looks whether the name has become free meanwhile: who gave it back has looked
        // into the line after that was committed, and perhaps before the place in it was.
        let waits = |wanted: &&Acquire| {
            wanted.ticket.is_some() && !answer.granted.contains_key(&wanted.name)
        };
        let waiting: Vec<&Acquire> = wanted.iter().filter(waits).collect();
        if !waiting.is_empty() {
            let free: Vec<String> = sqlx::query_scalar(&statements.names_free)
                .bind(batch(&waiting, |wanted| &wanted.name))
                .fetch_all(&mut *connection)
                .await?;
            let again = waiting
                .into_iter()
                .filter(|wanted| free.contains(&wanted.name));
            let again: Vec<Acquire> = again.cloned().collect();
            if !again.is_empty() {
                let more = statements.acquire_all(&mut connection, &again).await?;
                answer.granted.extend(more.granted);
                answer.held.extend(more.held);
            }
        }
        connection.done();
        let mut acquired = |wanted: &Acquire| match answer.granted.remove(&wanted.name) {
            Some(key) => Acquired::Granted(key),
            None => Acquired::Held(answer.held.get(&wanted.name).copied().unwrap_or_default()),
        };
        Ok(wanted.iter().map(&mut acquired).collect())
    }

    pub(super) async fn leave_once(
        &self,
        name: &str,
        ticket: &OwnerToken,
    ) -> Result<(), sqlx::Error> {
        let mut connection = self.checkout().await?;
        sqlx::query(&self.statements.leave)
            .bind(ticket.as_str())
            .execute(&mut *connection)
            .await?;
        self.statements
            .unpark_names(&mut connection, vec![name.to_owned()])
            .await;
        connection.done();
        self.tell();
        Ok(())
    }
}

impl Statements {
    /// With the places in the line.
    async fn acquire_all(
        &self,
        connection: &mut MySqlConnection,
        wanted: &[Acquire],
    ) -> Result<Answer, sqlx::Error> {
        let mut tx = connection.begin_with(BEGIN).await?;
        fault::at("claim begun");
        let tries: Vec<Try<'_>> = wanted.iter().map(|wanted| (wanted, None)).collect();
        let answer = self.acquire_in(&mut tx, &tries).await?;
        for wanted in wanted {
            let Some(ticket) = &wanted.ticket else {
                continue;
            };
            if answer.granted.contains_key(&wanted.name) {
                sqlx::query(&self.leave)
                    .bind(ticket.as_str())
                    .execute(&mut *tx)
                    .await?;
            } else {
                sqlx::query(&self.stand)
                    .bind(&wanted.name)
                    .bind(ticket.as_str())
                    .bind(micros(PATIENCE))
                    .execute(&mut *tx)
                    .await?;
            }
        }
        fault::at("claim to be committed");
        tx.commit().await?;
        Ok(answer)
    }

    /// In the caller's transaction: what is free, what has expired, and what there is nothing of yet.
    pub(super) async fn acquire_in(
        &self,
        tx: &mut MySqlConnection,
        tries: &[Try<'_>],
    ) -> Result<Answer, sqlx::Error> {
        let mut answer = Answer::default();
        if tries.is_empty() {
            return Ok(answer);
        }
        let rows = sqlx::query(&self.look)
            .bind(batch(tries, |(wanted, _)| &wanted.name))
            .fetch_all(&mut *tx)
            .await?;
        let (mut there, mut missing) = (Vec::new(), Vec::new());
        for row in &rows {
            let name: String = column(row, "name")?;
            let found = tries.iter().find(|(wanted, _)| wanted.name == name);
            let Some((wanted, before)) = found else {
                continue;
            };
            let id: Option<i64> = column(row, "id")?;
            let running = column::<Option<&str>>(row, "state")? == Some("running");
            let held = column::<Option<i64>>(row, "held")?.filter(|_| running);
            let first: Option<&str> = column(row, "ticket")?;
            let is_first = first
                .is_none_or(|first| wanted.ticket.as_ref().map(OwnerToken::as_str) == Some(first));
            let lives = held.is_some_and(|left| left > 0);
            if lives && before.is_none() {
                answer.held.insert(name, span(held.unwrap_or(0)));
            } else if !is_first {
                let patient = column::<Option<i64>>(row, "patient")?.unwrap_or(0);
                answer
                    .held
                    .insert(name, span(held.filter(|_| lives).unwrap_or(patient)));
            } else {
                match id {
                    Some(id) => there.push(id),
                    None => missing.push(name),
                }
            }
        }
        let free = self.lock_free(tx, tries, &there).await?;
        self.take_free(tx, tries, free, &mut answer).await?;
        self.make_new(tx, tries, &missing, &mut answer).await?;
        Ok(answer)
    }

    /// Locks those that nobody holds. What a look without a lock has seen is no evidence.
    async fn lock_free(
        &self,
        tx: &mut MySqlConnection,
        tries: &[Try<'_>],
        ids: &[i64],
    ) -> Result<Vec<Free>, sqlx::Error> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = sqlx::query(&self.lock_names)
            .bind(batch(ids, |id| id))
            .fetch_all(&mut *tx)
            .await?;
        let beats: Vec<(i64, i64, bool)> = sqlx::query_as(&self.beats)
            .bind(batch(ids, |id| id))
            .fetch_all(tx)
            .await?;
        let mut free = Vec::new();
        for row in &rows {
            let name: String = column(row, "name")?;
            let (id, fence): (i64, i64) = (column(row, "id")?, column(row, "fence")?);
            let before = tries
                .iter()
                .find(|(wanted, _)| wanted.name == name)
                .and_then(|(_, before)| *before);
            let owner: Option<&str> = column(row, "owner")?;
            let is_inherited = before.is_some_and(|before| owner == Some(before.as_str()));
            let lives = beats
                .iter()
                .any(|(job, beat, alive)| *alive && (*job, *beat) == (id, fence));
            let expired = column::<Option<bool>>(row, "expired")? == Some(true) && !lives;
            if column::<&str>(row, "state")? == "ready" || expired || is_inherited {
                let beat: Option<i64> = column(row, "beat")?;
                free.push(Free {
                    id,
                    name,
                    fence,
                    stray: beat.is_some_and(|beat| beat > fence),
                });
            }
        }
        Ok(free)
    }

    async fn take_free(
        &self,
        tx: &mut MySqlConnection,
        tries: &[Try<'_>],
        free: Vec<Free>,
        answer: &mut Answer,
    ) -> Result<(), sqlx::Error> {
        if free.is_empty() {
            return Ok(());
        }
        let next = self.next_fence(tx, free.len()).await?;
        let mut rows = Vec::new();
        let mut stray = Vec::new();
        for (row, next) in free.into_iter().zip(next..) {
            let Some((wanted, _)) = tries.iter().find(|(wanted, _)| wanted.name == row.name) else {
                continue;
            };
            let fence = next.max(row.fence + 1);
            if row.stray {
                stray.push(row.id);
            }
            rows.push(written(Some(row.id), wanted, fence));
            let owner = wanted.owner.clone();
            let key = LeaseKey {
                job: row.id,
                fence,
                owner,
            };
            answer.granted.insert(row.name, key);
        }
        sqlx::query(&self.acquire)
            .bind(serde_json::Value::from(rows).to_string())
            .execute(&mut *tx)
            .await?;
        self.by_ids(tx, &self.drop_beats, &stray).await
    }
}

pub(super) fn written(id: Option<i64>, wanted: &Acquire, fence: i64) -> serde_json::Value {
    json!([
        id,
        wanted.owner.as_str(),
        wanted.worker,
        micros(wanted.ttl),
        fence,
        wanted.name
    ])
}
