//! Jobs as applications see them: each verb one try.

use sqlx::{Connection, MySqlConnection};

use super::MySqlStore;
pub(super) use super::insert::Insertion;
use super::insert::{Look, insert, insert_one};
use super::statements::{BEGIN, Statements};
use crate::store::sql::json::batch;
use crate::store::{Enqueued, NewJob};

impl MySqlStore {
    pub(super) async fn enqueue_once(&self, jobs: &[NewJob]) -> Result<Vec<Enqueued>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        // One row without a key is one statement: what a transaction has besides would be three more round trips.
        if let [job] = jobs
            && job.unique_key.is_none()
        {
            let enqueued = insert_one(&mut connection, &self.statements, job).await?;
            connection.done();
            self.tell();
            return Ok(vec![enqueued]);
        }
        let (_, step): (String, u64) = sqlx::query_as(&self.statements.identity)
            .fetch_one(&mut *connection)
            .await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let enqueued = insert(&mut tx, &self.statements, jobs, step, Look::Own).await?;
        tx.commit().await?;
        connection.done();
        self.tell();
        Ok(enqueued)
    }

    pub(super) async fn prune_once(&self, most: usize) -> Result<usize, sqlx::Error> {
        let limit = i64::try_from(most).unwrap_or(i64::MAX);
        let statements = &self.statements;
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let pruned: Vec<i64> = sqlx::query_scalar(&statements.lock_prunable)
            .bind(limit)
            .fetch_all(&mut *tx)
            .await?;
        statements
            .by_ids(&mut tx, &statements.drop_jobs, &pruned)
            .await?;
        // With the last batch alone: it looks at each side row.
        if pruned.len() < most {
            let stray: Vec<i64> = sqlx::query_scalar(&statements.stray_beats)
                .bind(limit)
                .fetch_all(&mut *tx)
                .await?;
            if !stray.is_empty() {
                let locked: Vec<i64> = sqlx::query_scalar(&statements.lock_strays)
                    .bind(batch(&stray, |id| id))
                    .fetch_all(&mut *tx)
                    .await?;
                statements
                    .by_ids(&mut tx, &statements.drop_beats, &locked)
                    .await?;
            }
        }
        tx.commit().await?;
        if pruned.len() < most {
            statements.prune_line(&mut connection).await?;
        }
        connection.done();
        Ok(pruned.len())
    }
}

impl Statements {
    /// In a transaction of its own, that may wait for somebody in the line: nothing else is locked meanwhile.
    async fn prune_line(&self, connection: &mut MySqlConnection) -> Result<(), sqlx::Error> {
        let dead: Vec<i64> = sqlx::query_scalar(&self.long_dead)
            .fetch_all(&mut *connection)
            .await?;
        if dead.is_empty() {
            return Ok(());
        }
        let mut tx = connection.begin_with(BEGIN).await?;
        self.by_ids(&mut tx, &self.prune_line, &dead).await?;
        tx.commit().await
    }
}
