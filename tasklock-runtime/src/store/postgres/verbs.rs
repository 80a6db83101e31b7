//! The verbs, each one try: the store's trait adds the retries.

use sqlx::postgres::PgRow;
use sqlx::{Connection, Postgres};

use super::rows::{Ends, claim, job_row, key};
use super::statements::BEGIN;
use super::{PgStore, beat};
use crate::fault;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::{Beat, Checkout};
use crate::store::{Claim, ClaimBatch, ClaimRequest, Declaration, Finish, JobRow, Triggered, span};
use crate::task::micros;

impl PgStore {
    pub(super) async fn checkout(&self) -> Result<Checkout<Postgres>, sqlx::Error> {
        Checkout::from(&self.pool).await
    }

    pub(super) async fn claim_once(
        &self,
        request: &ClaimRequest,
    ) -> Result<ClaimBatch, sqlx::Error> {
        let tasks: Vec<&str> = request.tasks.iter().map(|(task, _)| &**task).collect();
        let ttls: Vec<i64> = request.tasks.iter().map(|(_, ttl)| micros(*ttl)).collect();
        let token = request.token.as_str();
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        fault::at("claim begun");

        let rows = sqlx::query(&self.statements.claim_due)
            .bind(&tasks)
            .bind(&ttls)
            .bind(i64::try_from(request.limit).unwrap_or(i64::MAX))
            .bind(token)
            .bind(&request.worker)
            .fetch_all(&mut *tx)
            .await?;
        let mut claims = claims(&rows, &request.token, false)?;

        if !claims.is_empty() {
            fault::at("due rows claimed");
        }
        let left = request.limit.saturating_sub(claims.len());
        if left > 0 {
            let expired: Vec<i64> = sqlx::query_scalar(&self.statements.lock_expired)
                .bind(&tasks)
                .bind(i64::try_from(left).unwrap_or(i64::MAX))
                .bind(token)
                .fetch_all(&mut *tx)
                .await?;
            if !expired.is_empty() {
                let rows = sqlx::query(&self.statements.take_expired)
                    .bind(&tasks)
                    .bind(&ttls)
                    .bind(&expired)
                    .bind(token)
                    .bind(&request.worker)
                    .fetch_all(&mut *tx)
                    .await?;
                claims.extend(self::claims(&rows, &request.token, true)?);
            }
        }

        let (now, wait): (i64, Option<i64>) = sqlx::query_as(&self.statements.next_event)
            .bind(&tasks)
            .fetch_one(&mut *tx)
            .await?;
        fault::at("claim to be committed");
        tx.commit().await?;
        connection.done();
        Ok(ClaimBatch {
            now,
            claims,
            wait: wait.map(span),
        })
    }

    pub(super) async fn finish_once(&self, ends: &[Finish]) -> Result<Vec<i64>, sqlx::Error> {
        let ends = Ends::of(ends);
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let finished: Vec<i64> = sqlx::query_scalar(&self.statements.finish)
            .bind(&ends.keys.jobs)
            .bind(&ends.keys.fences)
            .bind(&ends.keys.owners)
            .bind(&ends.next_at)
            .bind(&ends.next_in)
            .bind(&ends.outcomes)
            .bind(&ends.errors)
            .fetch_all(&mut *tx)
            .await?;
        sqlx::query(&self.statements.drop_beats)
            .bind(&finished)
            .execute(&mut *tx)
            .await?;
        fault::at("end to be committed");
        tx.commit().await?;
        connection.done();
        fault::at("end committed");
        Ok(finished)
    }

    pub(super) async fn release_once(&self, keys: &[LeaseKey]) -> Result<Vec<i64>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let released = self.statements.release(&mut connection, keys).await?;
        connection.done();
        Ok(released)
    }

    pub(super) async fn abandon_once(&self, token: &OwnerToken) -> Result<u64, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let rows = sqlx::query(&self.statements.by_token)
            .bind(token.as_str())
            .fetch_all(&mut *connection)
            .await?;
        let keys: Vec<LeaseKey> = rows.iter().map(key).collect::<Result<_, _>>()?;
        let released = self.statements.release(&mut connection, &keys).await?;
        connection.done();
        Ok(released.len() as u64)
    }

    pub(super) async fn declare_once(
        &self,
        declarations: &[Declaration],
    ) -> Result<(), sqlx::Error> {
        let column = |of: fn(&Declaration) -> Option<i64>| declarations.iter().map(of).collect();
        let tasks: Vec<&str> = declarations.iter().map(|d| &*d.task).collect();
        let schedules: Vec<&str> = declarations.iter().map(|d| &*d.schedule).collect();
        let if_new: Vec<Option<i64>> = column(|d| d.if_new);
        let if_changed: Vec<Option<i64>> = column(|d| d.if_changed);
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let mut written = 0;
        for (statement, due) in [
            (&self.statements.declare, if_new),
            (&self.statements.reschedule, if_changed),
        ] {
            written += sqlx::query(statement)
                .bind(&tasks)
                .bind(&schedules)
                .bind(due)
                .execute(&mut *tx)
                .await?
                .rows_affected();
        }
        if written > 0 {
            beat::announce(&mut tx, &self.statements).await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(())
    }

    pub(super) async fn trigger_once(&self, task: &str) -> Result<Option<Triggered>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let (waiting, moved, known): (i64, i64, i64) = sqlx::query_as(&self.statements.trigger)
            .bind(task)
            .fetch_one(&mut *tx)
            .await?;
        let found = match (known, waiting, moved) {
            (0, ..) => None,
            (_, 0, _) => Some(Triggered::AlreadyRunning),
            (_, _, 0) => Some(Triggered::AlreadyQueued),
            _ => Some(Triggered::Queued),
        };
        if found == Some(Triggered::Queued) {
            beat::announce(&mut tx, &self.statements).await?;
        }
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

fn claims(rows: &[PgRow], token: &OwnerToken, takeover: bool) -> Result<Vec<Claim>, sqlx::Error> {
    rows.iter().map(|row| claim(row, token, takeover)).collect()
}
