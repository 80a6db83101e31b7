//! Leases in a SQLite file, for processes on one machine.
//!
//! SQLite has one writer at a time, so a job's row takes its renewals too: a side row would save
//! nothing. Every write is one `BEGIN IMMEDIATE` transaction, or one statement, which amounts to the
//! same. What that costs: *any* write transaction in the same file, the application's own included,
//! holds up every claim, end and heartbeat until it ends, and a process that is stopped inside one
//! holds them up until it goes on or dies. Keep them shorter than a lease's margin, or put the leases
//! into a file of their own.
//!
//! Connections of one process: one for claims and ends, one for the heartbeat, one that reads
//! `PRAGMA data_version` twenty times a second to see that another connection has written (it takes
//! no lock and reads no page).

mod renewer;
mod rows;
mod statements;
mod watch;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{Connection, Executor, Row, Sqlite, SqliteConnection, SqlitePool};

use super::call::{Checkout, retried};
use super::connect::Options;
use super::schema::{self, Dialect, Names};
use super::{
    Claim, ClaimBatch, ClaimRequest, Declaration, Finish, JobRow, Renewer, Store, StoreFuture,
    Triggered, Wake,
};
use crate::error::{Error, StoreErrorKind};
use crate::lease::{LeaseKey, OwnerToken};
use rows::{claim, ends, job_row, keys, ttls};
use statements::{BEGIN, Statements};

/// How long a statement waits for another writer before it is tried again.
const BUSY: Duration = Duration::from_secs(1);
const ACQUIRE: Duration = Duration::from_secs(5);

struct SqliteStore {
    name: String,
    pool: SqlitePool,
    options: SqliteConnectOptions,
    statements: Arc<Statements>,
    names: Names,
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SqliteStore({})", self.name)
    }
}

/// Opens the file, creating it if need be, in WAL mode.
pub(super) async fn open(
    options: SqliteConnectOptions,
    settings: &Options,
) -> Result<Arc<dyn Store>, Error> {
    if let Some(schema) = &settings.schema {
        return Err(Error::option(
            format!("schema = {schema:?}"),
            "SQLite has no schemas: use table_prefix, or another file",
        ));
    }
    let names = Names::new(settings.table_prefix.as_deref(), None)?;
    let file = options.get_filename().display().to_string();
    if file.is_empty() || file.contains(":memory:") || file.starts_with("file:sqlx-in-memory") {
        return Err(Error::option(
            format!("the SQLite database {file:?}"),
            "lives in one connection's memory, and each connection would have another: write \
             `memory:` for leases in this process's memory, or name a file",
        ));
    }
    let options = options
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        // A commit that a power cut takes back would give its fence out twice.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY);
    let store = SqliteStore {
        name: format!("sqlite file {file}"),
        pool: SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(ACQUIRE)
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(options.clone()),
        options,
        statements: Arc::new(Statements::new(&names)),
        names,
    };
    // Without the pool first: it would try again until its time is up, and hide the reason.
    retried!(store, "open", async {
        SqliteConnection::connect_with(&store.options)
            .await?
            .close()
            .await
    })?;
    Ok(Arc::new(store))
}

/// What SQLite means by an error.
fn diagnose(error: &sqlx::Error) -> (StoreErrorKind, &'static str) {
    let Some(database) = error.as_database_error() else {
        return (StoreErrorKind::Other, "");
    };
    let code: i64 = database
        .code()
        .and_then(|code| code.parse().ok())
        .unwrap_or(0);
    // The low byte is the primary code.
    match code & 0xff {
        5 | 6 => (
            StoreErrorKind::Busy,
            "another connection writes in the same file for long",
        ),
        8 => (
            StoreErrorKind::NotWritable,
            "the file or its folder cannot be written: check their permissions and the mount",
        ),
        13 => (StoreErrorKind::NotWritable, "free some disk space"),
        10 => (StoreErrorKind::Unavailable, "check the disk"),
        14 => (
            StoreErrorKind::Unavailable,
            "check that the folder exists and may be written",
        ),
        26 | 11 => (
            StoreErrorKind::Other,
            "this is no SQLite database, or a damaged one",
        ),
        1 if database.message().contains("no such table")
            || database.message().contains("no such column") =>
        {
            (
                StoreErrorKind::Schema,
                "the tables are missing or of another version: start one worker with `migrate(true)`",
            )
        }
        _ => (StoreErrorKind::Other, ""),
    }
}

impl SqliteStore {
    async fn checkout(&self) -> Result<Checkout<Sqlite>, sqlx::Error> {
        Checkout::from(&self.pool).await
    }

    async fn claim_once(&self, request: &ClaimRequest) -> Result<ClaimBatch, sqlx::Error> {
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
            for (statement, takeover) in [
                (&self.statements.claim_due, false),
                (&self.statements.take_expired, true),
            ] {
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
            tx.commit().await?;
        }
        connection.done();
        Ok(batch)
    }

    async fn next_event(
        &self,
        connection: &mut SqliteConnection,
        ttls: &str,
    ) -> Result<(i64, Option<i64>), sqlx::Error> {
        sqlx::query_as(&self.statements.next_event)
            .bind(ttls)
            .fetch_one(connection)
            .await
    }

    async fn finish_once(&self, finishes: &[Finish]) -> Result<Vec<i64>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let finished = sqlx::query_scalar(&self.statements.finish)
            .bind(ends(finishes))
            .fetch_all(&mut *connection)
            .await?;
        connection.done();
        Ok(finished)
    }

    async fn release_once(&self, leases: &[LeaseKey]) -> Result<Vec<i64>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let released = sqlx::query_scalar(&self.statements.release)
            .bind(keys(leases))
            .fetch_all(&mut *connection)
            .await?;
        connection.done();
        Ok(released)
    }

    async fn abandon_once(&self, token: &OwnerToken) -> Result<u64, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let abandoned = sqlx::query(&self.statements.abandon)
            .bind(token.as_str())
            .execute(&mut *connection)
            .await?;
        connection.done();
        Ok(abandoned.rows_affected())
    }

    async fn declare_once(&self, declarations: &[Declaration]) -> Result<(), sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        for declared in declarations {
            let found: Option<(bool, String)> = sqlx::query_as(&self.statements.declared)
                .bind(&declared.task)
                .bind(&declared.schedule)
                .fetch_optional(&mut *tx)
                .await?;
            let (statement, due) = match found {
                None => (&self.statements.declare, declared.if_new),
                Some((false, state)) if state == "ready" => {
                    (&self.statements.reschedule, declared.if_changed)
                }
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

    async fn trigger_once(&self, task: &str) -> Result<Option<Triggered>, sqlx::Error> {
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

    async fn migrate_once(&self) -> Result<Option<(i64, i64)>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        run(&mut tx, schema::bootstrap(Dialect::Sqlite, &self.names)).await?;
        let mut found = self.version(&mut tx).await?;
        let applied = found.map_or(0, |(version, _)| version);
        for statement in schema::plan(Dialect::Sqlite, &self.names, applied).statements {
            run(&mut tx, statement).await?;
            found = self.version(&mut tx).await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(found)
    }

    async fn version_once(&self) -> Result<Option<(i64, i64)>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let exists: Option<i64> =
            sqlx::query_scalar("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")
                .bind(self.names.fill("{p}migration"))
                .fetch_optional(&mut *connection)
                .await?;
        let found = match exists {
            Some(_) => self.version(&mut connection).await?,
            None => None,
        };
        connection.done();
        Ok(found)
    }

    /// The newest migration that was applied, with the oldest version that can work with it.
    async fn version(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<Option<(i64, i64)>, sqlx::Error> {
        let sql = self
            .names
            .fill("SELECT max(version), max(oldest_compatible) FROM {p}migration");
        let (version, oldest): (Option<i64>, Option<i64>) =
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .fetch_one(connection)
                .await?;
        Ok(version.zip(oldest))
    }

    async fn now_once(&self) -> Result<i64, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let now = sqlx::query_scalar(&self.statements.now)
            .fetch_one(&mut *connection)
            .await?;
        connection.done();
        Ok(now)
    }

    async fn standing_once(&self, task: &str) -> Result<Option<JobRow>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let row = sqlx::query(&self.statements.standing)
            .bind(task)
            .fetch_optional(&mut *connection)
            .await?;
        connection.done();
        row.as_ref().map(job_row).transpose()
    }

    async fn inspect_once(&self, jobs: &[i64]) -> Result<Vec<JobRow>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let rows = renewer::inspect(&mut connection, &self.statements, jobs).await?;
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

fn between(from: i64, to: i64) -> Duration {
    Duration::from_micros(u64::try_from(to.saturating_sub(from)).unwrap_or(0))
}

/// Runs a script of several statements.
async fn run(connection: &mut SqliteConnection, sql: String) -> Result<(), sqlx::Error> {
    connection
        .execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql)))
        .await
        .map(|_| ())
}

impl Store for SqliteStore {
    fn name(&self) -> &str {
        &self.name
    }

    fn migrate(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let found = retried!(self, "migrate", self.migrate_once())?;
            schema::check_version(Dialect::Sqlite, &self.name, found)
        })
    }

    fn check_schema(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let found = retried!(self, "read the schema's version", self.version_once())?;
            schema::check_version(Dialect::Sqlite, &self.name, found)
        })
    }

    fn now(&self) -> StoreFuture<'_, i64> {
        Box::pin(async move { retried!(self, "read the clock", self.now_once()) })
    }

    fn declare<'a>(&'a self, declarations: &'a [Declaration]) -> StoreFuture<'a, ()> {
        Box::pin(
            async move { retried!(self, "declare the tasks", self.declare_once(declarations)) },
        )
    }

    fn claim<'a>(&'a self, request: &'a ClaimRequest) -> StoreFuture<'a, ClaimBatch> {
        Box::pin(async move { retried!(self, "claim", self.claim_once(request)) })
    }

    fn finish<'a>(&'a self, ends: &'a [Finish]) -> StoreFuture<'a, Vec<i64>> {
        Box::pin(async move { retried!(self, "finish", self.finish_once(ends)) })
    }

    fn release<'a>(&'a self, keys: &'a [LeaseKey]) -> StoreFuture<'a, Vec<i64>> {
        Box::pin(async move { retried!(self, "release", self.release_once(keys)) })
    }

    fn abandon<'a>(&'a self, token: &'a OwnerToken) -> StoreFuture<'a, u64> {
        Box::pin(async move { retried!(self, "give back a lost claim", self.abandon_once(token)) })
    }

    fn trigger<'a>(&'a self, task: &'a str) -> StoreFuture<'a, Option<Triggered>> {
        Box::pin(async move { retried!(self, "trigger", self.trigger_once(task)) })
    }

    fn inspect<'a>(&'a self, jobs: &'a [i64]) -> StoreFuture<'a, Vec<JobRow>> {
        Box::pin(async move { retried!(self, "read jobs", self.inspect_once(jobs)) })
    }

    fn standing<'a>(&'a self, task: &'a str) -> StoreFuture<'a, Option<JobRow>> {
        Box::pin(async move { retried!(self, "read a job", self.standing_once(task)) })
    }

    fn renewer(&self) -> Box<dyn Renewer> {
        Box::new(renewer::SqliteRenewer::new(
            self.name.clone(),
            self.options.clone(),
            Arc::clone(&self.statements),
        ))
    }

    fn watch(
        &self,
        wake: Box<dyn Fn(Wake) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(watch::watch(self.options.clone(), wake))
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.pool.close())
    }
}

/// A row's column; the statements name every column that is asked for.
fn column<'r, T>(row: &'r SqliteRow, name: &str) -> Result<T, sqlx::Error>
where
    T: sqlx::Decode<'r, Sqlite> + sqlx::Type<Sqlite>,
{
    row.try_get(name)
}

/// A batch as the JSON array that `json_each` reads.
fn batch<T>(items: &[T], row: impl Fn(&T) -> serde_json::Value) -> String {
    json!(items.iter().map(row).collect::<Vec<_>>()).to_string()
}
