//! Jobs as applications and operators see them: each verb one try.

use std::sync::Arc;

use sqlx::{Connection, PgConnection, Postgres, Transaction};

use super::announce;
use super::rows::{NewJobs, job};
use super::statements::{BEGIN, Statements};
use super::{PgStore, diagnose};
use crate::error::Error;
use crate::lease::Anchor;
use crate::store::sql::{Batch, TRIES, Written, elsewhere, uninserted};
use crate::store::{Cancelled, Enqueued, Inserting, Job, JobQuery, NewJob, Pausable, Retried};

impl PgStore {
    pub(super) async fn enqueue_once(&self, jobs: &[NewJob]) -> Result<Vec<Enqueued>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut batch = Batch::of(jobs);
        // Where none has a key, and all fit into one statement.
        let all = batch.plain_chunks().pop();
        if let Some(all) = all.filter(|all| all.len() == jobs.len()) {
            let columns = NewJobs::of(&batch.jobs_of(&all));
            let ids: Vec<(i64,)> = columns
                .bound(sqlx::query_as(&self.statements.enqueue_alone))
                .bind(&self.statements.channel)
                .fetch_all(&mut *connection)
                .await?;
            connection.done();
            batch.note_plain(&all, ids);
            return batch.done();
        }
        let mut tx = connection.begin_with(BEGIN).await?;
        let enqueued = insert(&mut tx, &self.statements, jobs).await?;
        tx.commit().await?;
        connection.done();
        Ok(enqueued)
    }

    pub(super) async fn prune_once(&self, most: usize) -> Result<usize, sqlx::Error> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let pruned: Vec<i64> = sqlx::query_scalar(&self.statements.prune)
            .bind(most)
            .fetch_all(&mut *tx)
            .await?;
        // With the last batch alone: it looks at each side row.
        if i64::try_from(pruned.len()).is_ok_and(|pruned| pruned < most) {
            sqlx::query(&self.statements.prune_beats)
                .bind(most)
                .execute(&mut *tx)
                .await?;
            sqlx::query(&self.statements.prune_line)
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(pruned.len())
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
        let states: Vec<&str> = query.states.iter().map(|state| state.as_str()).collect();
        let mut connection = self.checkout().await?;
        let rows = sqlx::query(&self.statements.jobs)
            .bind(&query.task)
            .bind(states)
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
        let found = self.lock_job(&mut tx, id).await?;
        let (statement, cancelled) = match found
            .as_ref()
            .map(|(state, standing, _)| (&**state, *standing))
        {
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
        let found = self.lock_job(&mut tx, id).await?;
        let retried = match found.as_ref().map(|(state, _, due)| (&**state, *due)) {
            None => None,
            Some(("running", _)) => Some(Retried::AlreadyRunning),
            Some(("ready", Some(true))) => Some(Retried::AlreadyQueued),
            Some(_) => {
                let holder: Option<i64> = sqlx::query_scalar(&self.statements.retry)
                    .bind(id)
                    .fetch_one(&mut *tx)
                    .await?;
                announce::work(&mut tx, &self.statements).await?;
                Some(holder.map_or(Retried::Queued, Retried::KeyTaken))
            }
        };
        tx.commit().await?;
        connection.done();
        Ok(retried)
    }

    async fn lock_job(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        id: i64,
    ) -> Result<Option<(String, bool, Option<bool>)>, sqlx::Error> {
        sqlx::query_as(&self.statements.lock_job)
            .bind(id)
            .fetch_optional(&mut **tx)
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
        let mut tx = connection.begin_with(BEGIN).await?;
        let written = sqlx::query(statement)
            .bind(kind)
            .bind(name)
            .execute(&mut *tx)
            .await?;
        if !pause {
            announce::work(&mut tx, &self.statements).await?;
        }
        tx.commit().await?;
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

/// Writes the jobs. Where a key is taken it looks up by whom, and tries again where nobody has it any more.
async fn insert(
    connection: &mut PgConnection,
    statements: &Statements,
    jobs: &[NewJob],
) -> Result<Vec<Enqueued>, sqlx::Error> {
    let mut batch = Batch::of(jobs);
    for chunk in batch.plain_chunks() {
        let columns = NewJobs::of(&batch.jobs_of(&chunk));
        let ids = columns
            .bound(sqlx::query_as(&statements.enqueue_plain))
            .fetch_all(&mut *connection)
            .await?;
        batch.note_plain(&chunk, ids);
    }
    for mut chunk in batch.keyed_chunks() {
        for _ in 0..TRIES {
            let new = write(connection, statements, &batch.jobs_of(&chunk)).await?;
            let mut taken: Vec<Written> = Vec::new();
            // Not asked in vain: to a serializable transaction, each look is one more conflict.
            if new.len() < chunk.len() {
                let columns = NewJobs::of(&batch.jobs_of(&chunk));
                taken = sqlx::query_as(&statements.key_taken)
                    .bind(&columns.tasks)
                    .bind(&columns.keys)
                    .fetch_all(&mut *connection)
                    .await?;
            }
            chunk = batch.note_keyed(&chunk, new, taken);
            if chunk.is_empty() {
                break;
            }
        }
    }
    announce::work(connection, statements).await?;
    batch.done()
}

async fn write(
    connection: &mut PgConnection,
    statements: &Statements,
    jobs: &[&NewJob],
) -> Result<Vec<Written>, sqlx::Error> {
    let columns = NewJobs::of(jobs);
    let written = columns.bound(sqlx::query_as(&statements.enqueue));
    written.fetch_all(connection).await
}

/// What a transaction needs to know of the store.
pub(super) struct Insertion {
    pub(super) name: String,
    pub(super) statements: Arc<Statements>,
    pub(super) identity: Option<Arc<str>>,
}

impl Inserting for PgConnection {
    async fn insert(
        &mut self,
        insertion: &Anchor,
        jobs: &[NewJob],
    ) -> Result<Vec<Enqueued>, Error> {
        let Some(insertion) = insertion.downcast_ref::<Insertion>() else {
            return Err(elsewhere("is of Postgres, while the jobs are elsewhere"));
        };
        let failed = |error| uninserted(&insertion.name, diagnose, error);
        let found: Option<String> = sqlx::query_scalar(&insertion.statements.identity)
            .fetch_optional(&mut *self)
            .await
            .map_err(failed)?;
        if let Some(ours) = &insertion.identity
            && found.as_deref() != Some(ours)
        {
            return Err(elsewhere("belongs to another tasklock store"));
        }
        insert(self, &insertion.statements, jobs)
            .await
            .map_err(failed)
    }
}

impl Inserting for Transaction<'_, Postgres> {
    async fn insert(
        &mut self,
        insertion: &Anchor,
        jobs: &[NewJob],
    ) -> Result<Vec<Enqueued>, Error> {
        (**self).insert(insertion, jobs).await
    }
}
