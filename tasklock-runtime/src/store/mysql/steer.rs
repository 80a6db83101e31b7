//! Jobs as operators see and steer them: each verb one try.

use sqlx::{Connection, MySqlConnection};

use super::MySqlStore;
use super::rows::job;
use super::statements::BEGIN;
use crate::store::{Cancelled, Job, JobQuery, Pausable, Retried};

impl MySqlStore {
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
        let statements = &self.statements;
        let statement = match (&states[..], &query.task) {
            (["running"], None) => &statements.running_jobs,
            (["running"], Some(_)) => &statements.running_jobs_of_task,
            (_, None) => &statements.jobs,
            (_, Some(_)) => &statements.jobs_of_task,
        };
        let mut listing = sqlx::query(statement)
            .bind(query.before)
            .bind(states.join(","));
        if let Some(task) = &query.task {
            listing = listing.bind(task);
        }
        let mut connection = self.checkout().await?;
        let rows = listing
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
            Some(("ready", true)) => Some(Retried::AlreadyQueued),
            Some(_) => {
                let holder: Option<i64> = sqlx::query_scalar(&self.statements.key_holder)
                    .bind(id)
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
        self.tell();
        Ok(retried)
    }

    async fn lock_job(
        &self,
        tx: &mut MySqlConnection,
        id: i64,
    ) -> Result<Option<(String, bool, bool)>, sqlx::Error> {
        // A statement that has waited for the lock shows the clock as it was before.
        let mut found = None;
        for statement in [&self.statements.lock_job, &self.statements.read_job] {
            found = sqlx::query_as(statement)
                .bind(id)
                .fetch_optional(&mut *tx)
                .await?;
        }
        Ok(found)
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
        self.tell();
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
