//! The verbs, each one try: the store's trait adds the retries.

use sqlx::{Connection, Postgres};

use super::rows::{Ends, Keys, job_row, key};
use super::statements::BEGIN;
use super::{PgStore, announce};
use crate::fault;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::{Beat, Checkout, goes_away};
use crate::store::{Finish, JobRow, Triggered};

impl PgStore {
    pub(super) async fn checkout(&self) -> Result<Checkout<Postgres>, sqlx::Error> {
        Checkout::from(&self.pool).await
    }

    pub(super) async fn finish_once(&self, finishes: &[Finish]) -> Result<Vec<i64>, sqlx::Error> {
        // A name is given back like a job that ends, in the same statement.
        let names = finishes.iter().filter_map(|end| end.resource.clone());
        let names: Vec<Finish> = names.map(Finish::of_name).collect();
        let kept = finishes.iter().filter(|end| !goes_away(end));
        let kept = Ends::of(kept.chain(&names));
        let gone = Keys::of(
            finishes
                .iter()
                .filter(|end| goes_away(end))
                .map(|end| &end.key),
        );
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let mut finished: Vec<i64> = Vec::new();
        if !kept.columns.is_empty() {
            finished = sqlx::query_scalar(&self.statements.finish)
                .bind(&kept.keys.jobs)
                .bind(&kept.keys.fences)
                .bind(&kept.keys.owners)
                .bind(kept.column(|end| end.next_at))
                .bind(kept.column(|end| end.next_in))
                .bind(&kept.outcomes)
                .bind(&kept.errors)
                .bind(kept.column(|end| end.state))
                .bind(kept.column(|end| end.counts))
                .bind(kept.column(|end| end.keep))
                .bind(kept.column(|end| end.hold))
                .bind(kept.column(|end| end.slot_at))
                .bind(kept.column(|end| end.missed))
                .bind(kept.column(|end| end.skipped))
                .bind(kept.column(|end| end.told_at))
                .bind(kept.column(|end| end.told_in))
                .fetch_all(&mut *tx)
                .await?;
        }
        if !gone.jobs.is_empty() {
            let gone: Vec<i64> = sqlx::query_scalar(&self.statements.finish_away)
                .bind(&gone.jobs)
                .bind(&gone.fences)
                .bind(&gone.owners)
                .fetch_all(&mut *tx)
                .await?;
            finished.extend(gone);
        }
        sqlx::query(&self.statements.drop_beats)
            .bind(&finished)
            .execute(&mut *tx)
            .await?;
        if finishes.iter().any(|end| end.frees_place) {
            announce::work(&mut tx, &self.statements).await?;
        } else {
            announce::next_slots(&mut tx, &self.statements, finishes, &finished).await?;
        }
        fault::at("end to be committed");
        tx.commit().await?;
        if !names.is_empty() {
            let names: Vec<i64> = names.iter().map(|end| end.key.job).collect();
            self.statements.free_awaited(&mut connection, &names).await;
        }
        connection.done();
        fault::at("end committed");
        Ok(finished)
    }

    pub(super) async fn release_once(&self, keys: &[LeaseKey]) -> Result<Vec<i64>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let statements = &self.statements;
        let released = statements.release(&mut connection, None, keys).await?;
        statements.tell(&mut connection, keys).await;
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
        let statements = &self.statements;
        let released = statements.release(&mut connection, None, &keys).await?;
        statements.tell(&mut connection, &keys).await;
        connection.done();
        Ok(released.len() as u64)
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
            announce::work(&mut tx, &self.statements).await?;
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
