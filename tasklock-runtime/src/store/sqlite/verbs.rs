//! The verbs, each one try: the store's trait adds the retries.

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, Sqlite, SqliteConnection};

use super::SqliteStore;
use super::rows::{claim, ends, job_row, ttls};
use super::statements::BEGIN;
use crate::fault;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::{Beat, Checkout};
use crate::store::{
    Claim, ClaimBatch, ClaimRequest, Declaration, Finish, JobRow, Triggered, between,
};

impl SqliteStore {
    pub(super) async fn checkout(&self) -> Result<Checkout<Sqlite>, sqlx::Error> {
        let connection = Checkout::from(&self.pool).await?;
        let open = self.open.lock().ok().and_then(|open| *open);
        if let Some(open) = open {
            open.still(self.options.get_filename())?;
        }
        Ok(connection)
    }

    pub(super) async fn claim_once(
        &self,
        request: &ClaimRequest,
    ) -> Result<ClaimBatch, sqlx::Error> {
        let ttls = ttls(&request.tasks);
        let mut connection = self.checkout().await?;
        // Most looks find nothing: they must not take the write lock.
        let (now, at) = self.next_event(&mut connection, &ttls).await?;
        let mut batch = ClaimBatch {
            now,
            claims: Vec::new(),
            wait: at.map(|at| between(now, at)),
        };
        if at.is_some_and(|at| at <= now) {
            let mut tx = connection.begin_with(BEGIN).await?;
            fault::at("claim begun");
            for (statement, takeover) in [
                (&self.statements.claim_due, false),
                (&self.statements.take_expired, true),
            ] {
                if !batch.claims.is_empty() {
                    fault::at("due rows claimed");
                }
                let left = request.limit.saturating_sub(batch.claims.len());
                let rows = sqlx::query(statement)
                    .bind(&ttls)
                    .bind(i64::try_from(left).unwrap_or(i64::MAX))
                    .bind(request.token.as_str())
                    .bind(&request.worker)
                    .fetch_all(&mut *tx)
                    .await?;
                batch
                    .claims
                    .extend(claims(&rows, &request.token, takeover)?);
            }
            let (now, at) = self.next_event(&mut tx, &ttls).await?;
            batch.now = now;
            batch.wait = at.map(|at| between(now, at));
            fault::at("claim to be committed");
            tx.commit().await?;
        }
        connection.done();
        Ok(batch)
    }

    pub(super) async fn next_event(
        &self,
        connection: &mut SqliteConnection,
        ttls: &str,
    ) -> Result<(i64, Option<i64>), sqlx::Error> {
        sqlx::query_as(&self.statements.next_event)
            .bind(ttls)
            .fetch_one(connection)
            .await
    }

    pub(super) async fn finish_once(&self, finishes: &[Finish]) -> Result<Vec<i64>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        fault::at("end to be committed");
        let finished = sqlx::query_scalar(&self.statements.finish)
            .bind(ends(finishes))
            .fetch_all(&mut *connection)
            .await?;
        connection.done();
        fault::at("end committed");
        Ok(finished)
    }

    pub(super) async fn release_once(&self, leases: &[LeaseKey]) -> Result<Vec<i64>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let released = self.statements.release(&mut connection, leases).await?;
        connection.done();
        Ok(released)
    }

    pub(super) async fn abandon_once(&self, token: &OwnerToken) -> Result<u64, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let abandoned = sqlx::query(&self.statements.abandon)
            .bind(token.as_str())
            .execute(&mut *connection)
            .await?;
        connection.done();
        Ok(abandoned.rows_affected())
    }

    pub(super) async fn declare_once(
        &self,
        declarations: &[Declaration],
    ) -> Result<(), sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        for declared in declarations {
            let found: Option<(bool, bool)> = sqlx::query_as(&self.statements.declared)
                .bind(&declared.task)
                .bind(&declared.schedule)
                .fetch_optional(&mut *tx)
                .await?;
            let (statement, due) = match found {
                None => (&self.statements.declare, declared.if_new),
                Some((false, true)) => (&self.statements.reschedule, declared.if_changed),
                Some(_) => continue,
            };
            sqlx::query(statement)
                .bind(&declared.task)
                .bind(&declared.schedule)
                .bind(due)
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(())
    }

    pub(super) async fn trigger_once(&self, task: &str) -> Result<Option<Triggered>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let state: Option<(bool, bool)> = sqlx::query_as(&self.statements.trigger_read)
            .bind(task)
            .fetch_optional(&mut *tx)
            .await?;
        let found = match state {
            None => None,
            Some((true, _)) => Some(Triggered::AlreadyRunning),
            Some((false, true)) => Some(Triggered::AlreadyQueued),
            Some((false, false)) => {
                sqlx::query(&self.statements.trigger_write)
                    .bind(task)
                    .execute(&mut *tx)
                    .await?;
                Some(Triggered::Queued)
            }
        };
        tx.commit().await?;
        connection.done();
        Ok(found)
    }

    pub(super) async fn now_once(&self) -> Result<i64, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let now = sqlx::query_scalar(&self.statements.now)
            .fetch_one(&mut *connection)
            .await?;
        connection.done();
        Ok(now)
    }

    pub(super) async fn standing_once(&self, task: &str) -> Result<Option<JobRow>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let row = sqlx::query(&self.statements.standing)
            .bind(task)
            .fetch_optional(&mut *connection)
            .await?;
        connection.done();
        row.as_ref().map(job_row).transpose()
    }

    pub(super) async fn inspect_once(&self, jobs: &[i64]) -> Result<Vec<JobRow>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let rows = self.statements.inspect(&mut connection, jobs).await?;
        connection.done();
        Ok(rows)
    }
}

fn claims(
    rows: &[SqliteRow],
    token: &OwnerToken,
    takeover: bool,
) -> Result<Vec<Claim>, sqlx::Error> {
    rows.iter().map(|row| claim(row, token, takeover)).collect()
}
