//! Jobs as applications and operators see them: each verb one try.

use std::sync::Arc;

use sqlx::{Connection, Sqlite, SqliteConnection, Transaction};

use super::rows::{self, job, new_jobs};
use super::statements::{BEGIN, Statements};
use super::{SqliteStore, batch, diagnose};
use crate::error::Error;
use crate::lease::Anchor;
use crate::store::sql::{Batch, TRIES, Text, Written, due_at, due_in, elsewhere, uninserted};
use crate::store::{Cancelled, Enqueued, Inserting, Job, JobQuery, NewJob, Pausable, Retried};

impl SqliteStore {
    pub(super) async fn enqueue_once(&self, jobs: &[NewJob]) -> Result<Vec<Enqueued>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let enqueued = insert(&mut tx, &self.statements, jobs).await?;
        tx.commit().await?;
        connection.done();
        self.written.notify_waiters();
        Ok(enqueued)
    }

    pub(super) async fn prune_once(&self, most: usize) -> Result<usize, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let prunable: bool = sqlx::query_scalar(&self.statements.prunable)
            .fetch_one(&mut *connection)
            .await?;
        let mut pruned = 0;
        if prunable {
            pruned = sqlx::query(&self.statements.prune)
                .bind(i64::try_from(most).unwrap_or(i64::MAX))
                .execute(&mut *connection)
                .await?
                .rows_affected();
        }
        connection.done();
        Ok(usize::try_from(pruned).unwrap_or(usize::MAX))
    }

    pub(super) async fn job_once(&self, id: i64) -> Result<Option<Job>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let row = sqlx::query(&self.statements.job)
            .bind(id)
            .fetch_optional(&mut *connection)
            .await?;
        connection.done();
        row.as_ref().map(job).transpose()
    }

    pub(super) async fn jobs_once(&self, query: &JobQuery) -> Result<Vec<Job>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let rows = sqlx::query(&self.statements.jobs)
            .bind(&query.task)
            .bind(batch(&query.states, |state| state.as_str()))
            .bind(query.states.iter().all(|state| state.is_ended()))
            .bind(query.before)
            .bind(i64::try_from(query.limit).unwrap_or(i64::MAX))
            .fetch_all(&mut *connection)
            .await?;
        connection.done();
        rows.iter().map(job).collect()
    }

    pub(super) async fn cancel_once(&self, id: i64) -> Result<Option<Cancelled>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let found = self.state_of(&mut tx, id).await?;
        let found = found
            .as_ref()
            .map(|(state, standing, _)| (&**state, *standing));
        let (statement, cancelled) = match found {
            None => (None, None),
            Some((_, true)) => (None, Some(Cancelled::Standing)),
            Some(("ready", _)) => (Some(&self.statements.cancel_waiting), Some(Cancelled::Now)),
            Some(("running", _)) => (Some(&self.statements.cancel_running), Some(Cancelled::Soon)),
            Some(_) => (None, Some(Cancelled::AlreadyEnded)),
        };
        if let Some(statement) = statement {
            sqlx::query(statement).bind(id).execute(&mut *tx).await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(cancelled)
    }

    pub(super) async fn retry_once(&self, id: i64) -> Result<Option<Retried>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let found = self.state_of(&mut tx, id).await?;
        let retried = match found.as_ref().map(|(state, _, due)| (&**state, *due)) {
            None => None,
            Some(("running", _)) => Some(Retried::AlreadyRunning),
            Some(("ready", true)) => Some(Retried::AlreadyQueued),
            Some(_) => {
                let holder: Option<i64> = sqlx::query_scalar(&self.statements.key_holder)
                    .bind(id)
                    .fetch_optional(&mut *tx)
                    .await?;
                if holder.is_none() {
                    sqlx::query(&self.statements.retry)
                        .bind(id)
                        .execute(&mut *tx)
                        .await?;
                }
                Some(holder.map_or(Retried::Queued, Retried::KeyTaken))
            }
        };
        tx.commit().await?;
        connection.done();
        Ok(retried)
    }

    async fn state_of(
        &self,
        connection: &mut SqliteConnection,
        id: i64,
    ) -> Result<Option<(String, bool, bool)>, sqlx::Error> {
        sqlx::query_as(&self.statements.job_state)
            .bind(id)
            .fetch_optional(connection)
            .await
    }

    pub(super) async fn pause_once(
        &self,
        what: &Pausable,
        pause: bool,
    ) -> Result<bool, sqlx::Error> {
        let (kind, name) = what.kind_and_name();
        let statement = if pause {
            &self.statements.pause
        } else {
            &self.statements.resume
        };
        let mut connection = self.checkout().await?;
        let written = sqlx::query(statement)
            .bind(kind)
            .bind(name)
            .execute(&mut *connection)
            .await?;
        connection.done();
        Ok(written.rows_affected() > 0)
    }

    pub(super) async fn paused_once(&self) -> Result<Vec<Pausable>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let rows: Vec<(String, String)> = sqlx::query_as(&self.statements.paused)
            .fetch_all(&mut *connection)
            .await?;
        connection.done();
        let what = |(kind, name): (String, String)| Pausable::of(&kind, name);
        Ok(rows.into_iter().filter_map(what).collect())
    }
}

/// Writes the jobs; where a key is taken it looks up by whom. Nothing comes in between: there is one writer.
async fn insert(
    connection: &mut SqliteConnection,
    statements: &Statements,
    jobs: &[NewJob],
) -> Result<Vec<Enqueued>, sqlx::Error> {
    let mut batch = Batch::of(jobs);
    for chunk in batch.plain_chunks() {
        let new = batch.jobs_of(&chunk);
        let first = new[0];
        let inserting = if rows::are_alike(&new) {
            sqlx::query_as(&statements.enqueue_alike)
                .bind(rows::payloads(&new))
                .bind(&first.task)
                .bind(first.priority)
                .bind(due_at(first.due))
                .bind(due_in(first.due))
                .bind(&first.resource)
        } else {
            sqlx::query_as(&statements.enqueue).bind(new_jobs(&new))
        };
        let ids = inserting.fetch_all(&mut *connection).await?;
        batch.note_plain(&chunk, ids);
    }
    for mut chunk in batch.keyed_chunks() {
        for _ in 0..TRIES {
            let new = write(connection, &statements.enqueue, &batch.jobs_of(&chunk)).await?;
            let taken = if new.len() == chunk.len() {
                Vec::new()
            } else {
                write(connection, &statements.key_taken, &batch.jobs_of(&chunk)).await?
            };
            chunk = batch.note_keyed(&chunk, new, taken);
            if chunk.is_empty() {
                break;
            }
        }
    }
    batch.done()
}

async fn write(
    connection: &mut SqliteConnection,
    statement: &Text,
    jobs: &[&NewJob],
) -> Result<Vec<Written>, sqlx::Error> {
    sqlx::query_as(statement)
        .bind(new_jobs(jobs))
        .fetch_all(connection)
        .await
}

/// What a transaction needs to know of the store.
pub(super) struct Insertion {
    pub(super) name: String,
    pub(super) statements: Arc<Statements>,
    pub(super) identity: Option<Arc<str>>,
}

impl Inserting for SqliteConnection {
    async fn insert(
        &mut self,
        insertion: &Anchor,
        jobs: &[NewJob],
    ) -> Result<Vec<Enqueued>, Error> {
        let Some(insertion) = insertion.downcast_ref::<Insertion>() else {
            return Err(elsewhere("is of SQLite, while the jobs are elsewhere"));
        };
        let failed = |error| uninserted(&insertion.name, diagnose, error);
        // To the last row: a statement that is left half-way is not ended.
        let found: Vec<String> = sqlx::query_scalar(&insertion.statements.identity_to_write)
            .fetch_all(&mut *self)
            .await
            .map_err(failed)?;
        if let Some(ours) = &insertion.identity
            && found.first().map(String::as_str) != Some(ours)
        {
            return Err(elsewhere("belongs to another tasklock store"));
        }
        insert(self, &insertion.statements, jobs)
            .await
            .map_err(failed)
    }
}

impl Inserting for Transaction<'_, Sqlite> {
    async fn insert(
        &mut self,
        insertion: &Anchor,
        jobs: &[NewJob],
    ) -> Result<Vec<Enqueued>, Error> {
        (**self).insert(insertion, jobs).await
    }
}
