//! New jobs, in the store's transactions and in the application's.
//!
//! A statement that says how many rows it has is given a block of ids: the first is told, the others follow in the order of the rows. A row
//! that is not written, for its key is taken, uses one up.
//!
//! How many rows a statement has is one of few numbers, so that each of its texts is prepared once and kept; but for what is left of
//! keyed jobs of which some are there already. To close a prepared statement is a message without an answer, and whatever is sent
//! next waits until the server has acknowledged it, which takes it 40 ms: sqlx does not set `TCP_NODELAY`.
//!
//! In the application's transaction each lock stays until that ends, whenever that is. So a key that is taken is not tried: it is seen
//! without a lock (`peek`), and then its job's row is locked, that it does not end meanwhile. What was written is not read
//! again: a locking read of it would lock the gap before it, but for READ COMMITTED. What stays is InnoDB's own search for
//! duplicates, which locks the gaps beside an entry of the same key, be it one that was deleted and is not yet purged.

use std::sync::Arc;

use sqlx::mysql::MySqlArguments;
use sqlx::query::Query;
use sqlx::{MySql, MySqlConnection, Transaction};

use super::diagnose;
use super::statements::Statements;
use crate::error::Error;
use crate::lease::Anchor;
use crate::store::sql::json::batch;
use crate::store::sql::{Batch, TRIES, Text, Written, due_at, due_in, elsewhere, uninserted};
use crate::store::{Enqueued, Inserting, NewJob};

/// So many rows a statement may have. Any number of jobs takes few of these.
const SIZES: [usize; 9] = [1_000, 256, 64, 16, 8, 4, 3, 2, 1];

/// Writes the jobs. Where a key is taken it looks up by whom, and tries again where nobody has it any more.
pub(super) async fn insert(
    connection: &mut MySqlConnection,
    statements: &Statements,
    jobs: &[NewJob],
    step: u64,
    look: Look,
) -> Result<Vec<Enqueued>, sqlx::Error> {
    let mut batch = Batch::of(jobs);
    for chunk in of_sizes(batch.plain_chunks()) {
        let (first, _) = write(
            connection,
            statements,
            &statements.enqueue,
            &batch.jobs_of(&chunk),
        )
        .await?;
        let ids = (0..chunk.len() as u64).map(|nth| (id(first + nth * step),));
        batch.note_plain(&chunk, ids.collect());
    }
    for mut chunk in of_sizes(batch.keyed_chunks()) {
        for _ in 0..TRIES {
            chunk = keyed(connection, statements, &mut batch, chunk, (look, step)).await?;
            if chunk.is_empty() {
                break;
            }
        }
    }
    batch.done()
}

/// Writes a job that has no key: that is one statement.
pub(super) async fn insert_one(
    connection: &mut MySqlConnection,
    statements: &Statements,
    job: &NewJob,
) -> Result<Enqueued, sqlx::Error> {
    let (first, _) = write(connection, statements, &statements.enqueue, &[job]).await?;
    Ok(Enqueued::New(id(first)))
}

/// The same in the same order, in parts of these sizes.
pub(super) fn of_sizes(chunks: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut parts = Vec::new();
    for mut rest in chunks {
        for size in SIZES {
            while rest.len() >= size {
                let behind = rest.split_off(size);
                parts.push(std::mem::replace(&mut rest, behind));
            }
        }
    }
    parts
}

/// In whose transaction the jobs are written, and so how it is seen who has a key: a row that exists is locked by whoever tries to write
/// it again, and with it the gap before it in the index, in which others write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// READ COMMITTED, where each read shows the newest.
    Own,
    Applications,
}

impl Look {
    /// Without a lock.
    async fn seen(
        self,
        connection: &mut MySqlConnection,
        statements: &Statements,
        jobs: &[&NewJob],
    ) -> Result<Vec<Written>, sqlx::Error> {
        match self {
            Self::Own => holders(connection, &statements.key_taken, jobs).await,
            Self::Applications => statements.peek(connection, jobs).await,
        }
    }

    /// Those that are taken, and stay so.
    async fn taken(
        self,
        connection: &mut MySqlConnection,
        statements: &Statements,
        jobs: &[&NewJob],
    ) -> Result<Vec<Written>, sqlx::Error> {
        let seen = self.seen(connection, statements, jobs).await?;
        if self == Self::Own || seen.is_empty() {
            return Ok(seen);
        }
        sqlx::query_as(&statements.key_kept)
            .bind(batch(&seen, |(id, _, _)| id))
            .fetch_all(connection)
            .await
    }
}

/// Answers those of which it is not known yet who has the key.
async fn keyed(
    connection: &mut MySqlConnection,
    statements: &Statements,
    batch: &mut Batch<'_>,
    chunk: Vec<usize>,
    (look, step): (Look, u64),
) -> Result<Vec<usize>, sqlx::Error> {
    let jobs = batch.jobs_of(&chunk);
    let taken = look.taken(connection, statements, &jobs).await?;
    let free = batch.note_keyed(&chunk, Vec::new(), taken);
    if free.is_empty() {
        return Ok(free);
    }
    let jobs = batch.jobs_of(&free);
    let (first, written) = write(connection, statements, &statements.enqueue_keyed, &jobs).await?;
    if written == jobs.len() {
        let ids = (0..jobs.len() as u64).map(|nth| (id(first + nth * step),));
        batch.note_plain(&free, ids.collect());
        return Ok(Vec::new());
    }
    // Others' ids are before the block or behind it: so ours are the least of those that are not before it.
    let mut new = match first {
        0 => Vec::new(),
        _ => look.seen(connection, statements, &jobs).await?,
    };
    new.sort_unstable_by_key(|(id, _, _)| *id);
    new.dedup_by_key(|(id, _, _)| *id);
    new.drain(..new.partition_point(|(found, _, _)| *found < id(first)));
    new.truncate(written);
    let hidden = written - new.len();
    // A key that the call has twice is one of ours.
    let again = new.clone();
    let unwritten = batch.note_keyed(&free, new, again);
    if unwritten.is_empty() {
        return Ok(unwritten);
    }
    let jobs = batch.jobs_of(&unwritten);
    let mut taken = holders(connection, &statements.key_taken_now, &jobs).await?;
    taken.sort_unstable_by_key(|(id, _, _)| *id);
    // Where a snapshot shows a job of the key that has ended meanwhile, it has hidden ours.
    let ours = taken.partition_point(|(found, _, _)| *found < id(first));
    let new = taken[ours..].iter().take(hidden).cloned().collect();
    Ok(batch.note_keyed(&unwritten, new, taken))
}

fn id(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Answers the first id, zero if nothing was written; and how many rows were.
async fn write(
    connection: &mut MySqlConnection,
    statements: &Statements,
    statement: &Text,
    jobs: &[&NewJob],
) -> Result<(u64, usize), sqlx::Error> {
    let rows = statements.new_row.repeated(jobs.len(), ", ").0;
    let mut query = sqlx::query(statement.with(&rows)).persistent(SIZES.contains(&jobs.len()));
    for job in jobs {
        query = bound(query, job);
    }
    let written = query.execute(connection).await?;
    let count = usize::try_from(written.rows_affected()).unwrap_or(usize::MAX);
    Ok((written.last_insert_id(), count))
}

fn bound<'q>(
    query: Query<'q, MySql, MySqlArguments>,
    job: &'q NewJob,
) -> Query<'q, MySql, MySqlArguments> {
    query
        .bind(&job.task)
        .bind(&job.payload)
        .bind(job.priority)
        .bind(&job.unique_key)
        .bind(due_at(job.due))
        .bind(due_in(job.due))
        .bind(&job.resource)
}

async fn holders(
    connection: &mut MySqlConnection,
    statement: &Text,
    jobs: &[&NewJob],
) -> Result<Vec<Written>, sqlx::Error> {
    sqlx::query_as(statement)
        .bind(batch(jobs, |job| (&job.unique_key, &job.task)))
        .fetch_all(connection)
        .await
}

/// What a transaction needs to know of the store.
pub(super) struct Insertion {
    pub(super) name: String,
    pub(super) statements: Arc<Statements>,
    pub(super) identity: Option<Arc<str>>,
}

impl Inserting for MySqlConnection {
    async fn insert(
        &mut self,
        insertion: &Anchor,
        jobs: &[NewJob],
    ) -> Result<Vec<Enqueued>, Error> {
        let Some(insertion) = insertion.downcast_ref::<Insertion>() else {
            return Err(elsewhere(
                "is of MariaDB or MySQL, while the jobs are elsewhere",
            ));
        };
        let failed = |error| uninserted(&insertion.name, diagnose, error);
        let found: Option<(String, u64)> = sqlx::query_as(&insertion.statements.identity)
            .fetch_optional(&mut *self)
            .await
            .map_err(failed)?;
        let (found, step) = found.unzip();
        if let Some(ours) = &insertion.identity
            && found.as_deref() != Some(ours)
        {
            return Err(elsewhere("belongs to another tasklock store"));
        }
        insert(
            self,
            &insertion.statements,
            jobs,
            step.unwrap_or(1),
            Look::Applications,
        )
        .await
        .map_err(failed)
    }
}

impl Inserting for Transaction<'_, MySql> {
    async fn insert(
        &mut self,
        insertion: &Anchor,
        jobs: &[NewJob],
    ) -> Result<Vec<Enqueued>, Error> {
        (**self).insert(insertion, jobs).await
    }
}

#[cfg(test)]
mod tests {
    use super::{SIZES, of_sizes};

    #[test]
    fn any_number_of_jobs_is_few_statements_of_kept_sizes() {
        for count in 0..=1_000 {
            let chunk: Vec<usize> = (0..count).collect();
            let parts = of_sizes(vec![chunk.clone()]);
            assert!(parts.iter().all(|part| SIZES.contains(&part.len())));
            assert!(
                parts.len() <= 12,
                "{count} jobs: {} statements",
                parts.len()
            );
            assert_eq!(parts.concat(), chunk);
        }
    }
}
