//! The verbs, each one try: the store's trait adds the retries.

use std::collections::HashMap;

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, Sqlite, SqliteConnection};

use super::rows::{self, job_row};
use super::statements::BEGIN;
use super::{SqliteStore, batch};
use crate::fault;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::json::{ends, keys, wanted};
use crate::store::sql::{Beat, Checkout, Taken, goes_away};
use crate::store::{ClaimBatch, ClaimRequest, Finish, JobRow, Triggered, between};
use crate::task::micros;

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
        let tasks = wanted(&request.tasks);
        let mut connection = self.checkout().await?;
        // Most looks find nothing: they must not take the write lock.
        let (now, at) = self.next_event(&mut connection, &tasks).await?;
        let mut claimed = ClaimBatch {
            now,
            claims: Vec::new(),
            wait: at.map(|at| between(now, at)),
            parked: false,
        };
        let sweep = request.sweep && self.has_parked(&mut connection, &tasks).await?;
        if sweep || at.is_some_and(|at| at <= now) {
            let mut tx = connection.begin_with(BEGIN).await?;
            fault::at("claim begun");
            if sweep {
                sqlx::query(&self.statements.sweep)
                    .execute(&mut *tx)
                    .await?;
            }
            let expired: Vec<(i64, Option<Vec<u8>>)> = sqlx::query_as(&self.statements.expired)
                .bind(&tasks)
                .bind(i64::try_from(request.limit).unwrap_or(i64::MAX))
                .bind(i64::try_from(request.suspects).unwrap_or(i64::MAX))
                .fetch_all(&mut *tx)
                .await?;
            let mut taken = Vec::new();
            if !expired.is_empty() {
                let rows = sqlx::query(&self.statements.take_expired)
                    .bind(&tasks)
                    .bind(batch(&expired, |(id, _)| id))
                    .bind(request.token.as_str())
                    .bind(&request.worker)
                    .fetch_all(&mut *tx)
                    .await?;
                taken = self::taken(&rows, &request.token, true)?;
            }
            let left = request.limit.saturating_sub(taken.len());
            let due = self.due(&mut tx, request, &tasks, left).await?;
            if !due.is_empty() {
                let rows = sqlx::query(&self.statements.claim_due)
                    .bind(batch(&due, |row| row))
                    .bind(request.token.as_str())
                    .bind(&request.worker)
                    .fetch_all(&mut *tx)
                    .await?;
                taken.extend(self::taken(&rows, &request.token, false)?);
                fault::at("due rows claimed");
            }
            (claimed.claims, claimed.parked) = self.equip(&mut tx, request, taken, expired).await?;
            let (now, at) = self.next_event(&mut tx, &tasks).await?;
            claimed.now = now;
            claimed.wait = at.map(|at| between(now, at));
            fault::at("claim to be committed");
            tx.commit().await?;
        }
        connection.done();
        Ok(claimed)
    }

    /// The rows to take, and for how long: the first ones of all tasks and priorities together, by rank. Each task's due rows
    /// stand in a part of the index of their own, and in there each priority's, so that no row is looked at
    /// that is not due, or that another worker's tasks own.
    async fn due(
        &self,
        connection: &mut SqliteConnection,
        request: &ClaimRequest,
        tasks: &str,
        limit: usize,
    ) -> Result<Vec<(i64, i64)>, sqlx::Error> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let lanes: Vec<(String, i64, Option<i64>)> = sqlx::query_as(&self.statements.lanes)
            .bind(tasks)
            .fetch_all(&mut *connection)
            .await?;
        let mut rooms: HashMap<&str, Option<i64>> = HashMap::new();
        let mut due: Vec<(i64, &str, i64)> = Vec::new();
        for (task, priority, room) in &lanes {
            rooms.insert(task, *room);
            let rows: Vec<(i64, i64)> = sqlx::query_as(&self.statements.due)
                .bind(task)
                .bind(priority)
                .bind(i64::try_from(limit).unwrap_or(i64::MAX))
                .fetch_all(&mut *connection)
                .await?;
            let rank = |due_at: i64| due_at - priority * 1_000_000;
            due.extend(
                rows.iter()
                    .map(|(id, due_at)| (rank(*due_at), &**task, *id)),
            );
        }
        due.sort_unstable();
        due.retain(|(_, task, _)| match rooms.get_mut(task) {
            Some(Some(room)) => {
                *room -= 1;
                *room >= 0
            }
            _ => true,
        });
        let wanted = request.tasks.iter();
        let ttls: HashMap<&str, i64> = wanted
            .map(|wanted| (&*wanted.task, micros(wanted.ttl)))
            .collect();
        let taken = |(_, task, id): (i64, &str, i64)| Some((id, *ttls.get(task)?));
        Ok(due.into_iter().take(limit).filter_map(taken).collect())
    }

    pub(super) async fn next_event(
        &self,
        connection: &mut SqliteConnection,
        tasks: &str,
    ) -> Result<(i64, Option<i64>), sqlx::Error> {
        sqlx::query_as(&self.statements.next_event)
            .bind(tasks)
            .fetch_one(connection)
            .await
    }

    pub(super) async fn finish_once(&self, finishes: &[Finish]) -> Result<Vec<i64>, sqlx::Error> {
        // A name is given back like a job that ends, in the same statement.
        let names = finishes.iter().filter_map(|end| end.resource.clone());
        let names: Vec<LeaseKey> = names.collect();
        let free: Vec<Finish> = names.iter().cloned().map(Finish::of_name).collect();
        let (gone, mut kept): (Vec<&Finish>, Vec<&Finish>) =
            finishes.iter().partition(|end| goes_away(end));
        kept.extend(&free);
        let gone: Vec<LeaseKey> = gone.into_iter().map(|end| end.key.clone()).collect();
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let mut finished = Vec::new();
        for (is_empty, statement, ends) in [
            (kept.is_empty(), &self.statements.finish, ends(&kept)),
            (gone.is_empty(), &self.statements.finish_away, keys(&gone)),
        ] {
            if !is_empty {
                let written: Vec<i64> = sqlx::query_scalar(statement)
                    .bind(ends)
                    .fetch_all(&mut *tx)
                    .await?;
                finished.extend(written);
            }
        }
        if !names.is_empty() {
            self.statements.unpark(&mut tx, &names).await;
        }
        fault::at("end to be committed");
        tx.commit().await?;
        connection.done();
        fault::at("end committed");
        Ok(finished)
    }

    pub(super) async fn release_once(&self, leases: &[LeaseKey]) -> Result<Vec<i64>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let statements = &self.statements;
        let released = statements.release(&mut connection, None, leases).await?;
        statements.tell(&mut connection, leases).await;
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
        self.written.notify_waiters();
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

fn taken(
    rows: &[SqliteRow],
    token: &OwnerToken,
    takeover: bool,
) -> Result<Vec<Taken>, sqlx::Error> {
    rows.iter()
        .map(|row| rows::taken(row, token, takeover))
        .collect()
}
