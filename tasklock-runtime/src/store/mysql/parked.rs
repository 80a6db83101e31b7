//! Jobs that are parked for a name fall due when it is free.
//!
//! Outside of the transaction that gave the name back, and after it: so does a claim that has parked jobs look again after its
//! commit. Each writes before it reads, and so one of the two sees the other.

use sqlx::{Connection, MySqlConnection};

use super::statements::{BEGIN, Statements};
use crate::lease::LeaseKey;
use crate::store::sql::json::batch;

/// Of so many tasks at once the next ones are asked for.
const UNION: usize = 100;
/// So many parked jobs are met before the rest of a name is stepped over.
const WALK: usize = 100;

impl Statements {
    /// Of these leases, given back or not ours any more: what waits for their names falls due, if they are free. What fails
    /// here the next sweep finds.
    pub(super) async fn unpark(&self, connection: &mut MySqlConnection, leases: &[LeaseKey]) {
        let unparked = async {
            let names: Vec<String> = sqlx::query_scalar(&self.parked_for)
                .bind(batch(leases, |key| key.job))
                .fetch_all(&mut *connection)
                .await?;
            self.unpark_alone(connection, names).await
        };
        noted(unparked.await);
    }

    /// The names that a claim has found busy, or that a line was left for. Answers whether something fell due.
    pub(super) async fn unpark_names(
        &self,
        connection: &mut MySqlConnection,
        names: Vec<String>,
    ) -> bool {
        noted(self.unpark_alone(connection, names).await)
    }

    /// All names that jobs are parked for, in the caller's transaction. The index is walked, and what is left of a name is
    /// stepped over once some of its jobs were met.
    pub(super) async fn sweep(&self, tx: &mut MySqlConnection) -> Result<(), sqlx::Error> {
        let mut names = vec![String::new()];
        loop {
            let walked: Vec<String> = sqlx::query_scalar(&self.next_parked_for)
                .bind(names.last())
                .bind(i64::try_from(WALK).unwrap_or(i64::MAX))
                .fetch_all(&mut *tx)
                .await?;
            let more = walked.len() == WALK;
            names.extend(walked);
            names.dedup();
            if !more {
                break;
            }
        }
        names.remove(0);
        self.unpark_in(tx, names).await.map(drop)
    }

    async fn unpark_alone(
        &self,
        connection: &mut MySqlConnection,
        names: Vec<String>,
    ) -> Result<bool, sqlx::Error> {
        if names.is_empty() {
            return Ok(false);
        }
        let mut tx = connection.begin_with(BEGIN).await?;
        let unparked = self.unpark_in(&mut tx, names).await?;
        tx.commit().await?;
        Ok(unparked)
    }

    /// Of the names that nobody holds or waits for: the first parked job of each task falls due again, unless one is due already.
    /// More than one task may wait for a name, and one that is paused must not hold up the others.
    async fn unpark_in(
        &self,
        tx: &mut MySqlConnection,
        names: Vec<String>,
    ) -> Result<bool, sqlx::Error> {
        if names.is_empty() {
            return Ok(false);
        }
        let unused: Vec<String> = sqlx::query_scalar(&self.unused)
            .bind(batch(&names, |name| name))
            .fetch_all(&mut *tx)
            .await?;
        let places = self.parked_places(tx, &unused).await?;
        if places.is_empty() {
            return Ok(false);
        }
        let first: Vec<Option<i64>> = sqlx::query_scalar(&self.first_parked)
            .bind(batch(&places, |place| place))
            .fetch_all(&mut *tx)
            .await?;
        let first: Vec<i64> = first.into_iter().flatten().collect();
        if first.is_empty() {
            return Ok(false);
        }
        let locked: Vec<i64> = sqlx::query_scalar(&self.lock_parked)
            .bind(batch(&first, |id| id))
            .fetch_all(&mut *tx)
            .await?;
        self.by_ids(tx, &self.unpark, &locked).await?;
        Ok(!locked.is_empty())
    }

    /// Each of these names with each task that has jobs parked for it.
    async fn parked_places(
        &self,
        tx: &mut MySqlConnection,
        names: &[String],
    ) -> Result<Vec<(String, String)>, sqlx::Error> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let first: Vec<(String, Option<String>)> = sqlx::query_as(&self.first_task)
            .bind(batch(names, |name| name))
            .fetch_all(&mut *tx)
            .await?;
        let first = first.into_iter();
        let mut all: Vec<(String, String)> = first
            .filter_map(|(name, task)| Some((name, task?)))
            .collect();
        let mut last = all.clone();
        while !last.is_empty() {
            let mut next: Vec<(String, String)> = Vec::new();
            for chunk in last.chunks(UNION) {
                let mut query = sqlx::query_as(self.next_task.repeated(chunk.len(), " UNION ALL "));
                for (name, task) in chunk {
                    query = query.bind(name).bind(task);
                }
                next.extend(query.fetch_all(&mut *tx).await?);
            }
            all.extend(next.iter().cloned());
            last = next;
        }
        Ok(all)
    }
}

fn noted(unparked: Result<bool, sqlx::Error>) -> bool {
    unparked.unwrap_or_else(|error| {
        tracing::debug!("parked jobs wait for the next sweep: {error}");
        false
    })
}
