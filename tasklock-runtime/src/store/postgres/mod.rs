//! Leases in PostgreSQL.
//!
//! Connections of one process: a pool of at most four for claims and ends, one for the heartbeat, one
//! that listens. The listener is tested with an announcement of its own before it is relied on: a
//! pooler in transaction mode accepts LISTEN, and delivers nothing.

mod listen;
mod renewer;
mod rows;
mod statements;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgRow};
use sqlx::{Connection, Executor, PgConnection, PgPool, Postgres, Row};

use super::call::{Checkout, retried, store_error};
use super::connect::Options;
use super::schema::{self, Dialect, Names};
use super::{
    Claim, ClaimBatch, ClaimRequest, Declaration, Finish, JobRow, Renewer, Store, StoreFuture,
    Triggered, Wake,
};
use crate::error::{Error, StoreError, StoreErrorKind};
use crate::lease::{LeaseKey, OwnerToken};
use rows::{Ends, claim, job_row, key, micros};
use statements::{BEGIN, Statements};

const CONNECTIONS: u32 = 4;
const ACQUIRE: Duration = Duration::from_secs(5);

struct PgStore {
    name: String,
    pool: PgPool,
    options: PgConnectOptions,
    statements: Arc<Statements>,
    names: Names,
}

impl fmt::Debug for PgStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PgStore({})", self.name)
    }
}

/// Opens the store and asks the server for the time, to see that it is there.
pub(super) async fn open(
    name: String,
    mut options: PgConnectOptions,
    settings: &Options,
) -> Result<Arc<dyn Store>, Error> {
    let names = Names::new(settings.table_prefix.as_deref(), settings.schema.as_deref())?;
    if options.get_application_name().is_none() {
        options = options.application_name("tasklock");
    }
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(ACQUIRE)
        // A stale connection shows itself in the call, which is tried again anyway.
        .test_before_acquire(false)
        .connect_lazy_with(options.clone());
    let store = PgStore {
        name,
        pool,
        options,
        statements: Arc::new(Statements::new(&names)),
        names,
    };
    // Without the pool first: it would try again until its time is up, and hide the reason.
    let connected = tokio::time::timeout(ACQUIRE, PgConnection::connect_with(&store.options)).await;
    match connected {
        Ok(Ok(connection)) => {
            let _ = connection.close().await;
        }
        Ok(Err(error)) => return Err(store_error(&store.name, "connect", diagnose, error).into()),
        Err(_) => {
            return Err(StoreError {
                store: store.name,
                call: "connect",
                kind: StoreErrorKind::Unavailable,
                message: format!("no answer within {ACQUIRE:?}: check host, port and firewall"),
            }
            .into());
        }
    }
    Ok(Arc::new(store))
}

/// What Postgres means by an error.
fn diagnose(error: &sqlx::Error) -> (StoreErrorKind, &'static str) {
    let Some(code) = error.as_database_error().and_then(|error| error.code()) else {
        return (StoreErrorKind::Other, "");
    };
    match &*code {
        "40001" | "40P01" | "55P03" => (StoreErrorKind::Busy, ""),
        "25006" => (
            StoreErrorKind::NotWritable,
            "the server takes no writes: point the URL at the primary, not at a standby",
        ),
        "42501" => (
            StoreErrorKind::NotWritable,
            "the role lacks a grant: `tasklock_runtime::schema_sql` lists those that are needed",
        ),
        "53100" => (
            StoreErrorKind::NotWritable,
            "free some disk space on the server",
        ),
        "42P01" | "42703" | "3F000" => (
            StoreErrorKind::Schema,
            "the tables are missing or of another version: start one worker with `migrate(true)`",
        ),
        "3D000" => (StoreErrorKind::Unavailable, "create the database first"),
        "28P01" | "28000" => (
            StoreErrorKind::Unavailable,
            "check user and password in the URL",
        ),
        "53300" => (
            StoreErrorKind::Unavailable,
            "the server's max_connections is used up; a worker needs up to six connections",
        ),
        code if code.starts_with("08") || code.starts_with("57P") => {
            (StoreErrorKind::Unavailable, "")
        }
        _ => (StoreErrorKind::Other, ""),
    }
}

impl PgStore {
    async fn checkout(&self) -> Result<Checkout<Postgres>, sqlx::Error> {
        Checkout::from(&self.pool).await
    }

    async fn claim_once(&self, request: &ClaimRequest) -> Result<ClaimBatch, sqlx::Error> {
        let tasks: Vec<&str> = request.tasks.iter().map(|(task, _)| &**task).collect();
        let ttls: Vec<i64> = request.tasks.iter().map(|(_, ttl)| micros(*ttl)).collect();
        let token = request.token.as_str();
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;

        let rows = sqlx::query(&self.statements.claim_due)
            .bind(&tasks)
            .bind(&ttls)
            .bind(i64::try_from(request.limit).unwrap_or(i64::MAX))
            .bind(token)
            .bind(&request.worker)
            .fetch_all(&mut *tx)
            .await?;
        let mut claims = claims(&rows, &request.token, false)?;

        let left = request.limit.saturating_sub(claims.len());
        if left > 0 {
            let expired: Vec<i64> = sqlx::query_scalar(&self.statements.lock_expired)
                .bind(&tasks)
                .bind(i64::try_from(left).unwrap_or(i64::MAX))
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
        tx.commit().await?;
        connection.done();
        Ok(ClaimBatch {
            now,
            claims,
            wait: wait.map(|us| Duration::from_micros(u64::try_from(us).unwrap_or(0))),
        })
    }

    async fn finish_once(&self, ends: &[Finish]) -> Result<Vec<i64>, sqlx::Error> {
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
        tx.commit().await?;
        connection.done();
        Ok(finished)
    }

    async fn release_once(&self, keys: &[LeaseKey]) -> Result<Vec<i64>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let released = renewer::release(&mut connection, &self.statements, keys).await?;
        connection.done();
        Ok(released)
    }

    async fn taken_by(&self, token: &OwnerToken) -> Result<Vec<LeaseKey>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let rows = sqlx::query(&self.statements.by_token)
            .bind(token.as_str())
            .fetch_all(&mut *connection)
            .await?;
        connection.done();
        rows.iter().map(key).collect()
    }

    async fn declare_once(&self, declarations: &[Declaration]) -> Result<(), sqlx::Error> {
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
            renewer::announce(&mut tx, &self.statements).await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(())
    }

    async fn trigger_once(&self, task: &str) -> Result<Option<Triggered>, sqlx::Error> {
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
            renewer::announce(&mut tx, &self.statements).await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(found)
    }

    async fn migrate_once(&self) -> Result<Option<(i64, i64)>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        // One process at a time; the number is arbitrary, and this library's own.
        sqlx::query("SELECT pg_advisory_xact_lock(7308895142330199907)")
            .execute(&mut *tx)
            .await?;
        if let Some(schema) = self.names.schema() {
            // Asked first: CREATE SCHEMA wants a privilege even where the schema exists.
            let exists: bool =
                sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)")
                    .bind(schema)
                    .fetch_one(&mut *tx)
                    .await?;
            if !exists {
                run(&mut tx, format!("CREATE SCHEMA \"{schema}\"")).await?;
            }
        }
        let mut found = self.version(&mut tx).await?;
        let applied = found.map_or(0, |(version, _)| version);
        let plan = schema::plan(Dialect::Postgres, &self.names, applied);
        if found.is_none() {
            run(&mut tx, schema::bootstrap(Dialect::Postgres, &self.names)).await?;
        }
        for statement in plan.statements {
            run(&mut tx, statement).await?;
            found = self.version(&mut tx).await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(found)
    }

    async fn version_once(&self) -> Result<Option<(i64, i64)>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let found = self.version(&mut connection).await?;
        connection.done();
        Ok(found)
    }

    /// The newest migration that was applied, with the oldest version that can work with it.
    async fn version(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Option<(i64, i64)>, sqlx::Error> {
        let table = self.names.fill("{s}{p}migration");
        let exists: bool = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL")
            .bind(&table)
            .fetch_one(&mut *connection)
            .await?;
        if !exists {
            return Ok(None);
        }
        let (version, oldest): (Option<i64>, Option<i64>) = sqlx::query_as(sqlx::AssertSqlSafe(
            format!("SELECT max(version), max(oldest_compatible) FROM {table}"),
        ))
        .fetch_one(&mut *connection)
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

fn claims(rows: &[PgRow], token: &OwnerToken, takeover: bool) -> Result<Vec<Claim>, sqlx::Error> {
    rows.iter().map(|row| claim(row, token, takeover)).collect()
}

/// Runs a script of several statements.
async fn run(connection: &mut PgConnection, sql: String) -> Result<(), sqlx::Error> {
    connection
        .execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql)))
        .await
        .map(|_| ())
}

impl Store for PgStore {
    fn name(&self) -> &str {
        &self.name
    }

    fn migrate(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let found = retried!(self, "migrate", self.migrate_once())?;
            schema::check_version(Dialect::Postgres, &self.name, found)
        })
    }

    fn check_schema(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let found = retried!(self, "read the schema's version", self.version_once())?;
            schema::check_version(Dialect::Postgres, &self.name, found)
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
        Box::pin(async move {
            let keys = retried!(self, "look for a lost claim", self.taken_by(token))?;
            Ok(self.release(&keys).await?.len() as u64)
        })
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
        Box::new(renewer::PgRenewer::new(
            self.name.clone(),
            self.options.clone(),
            Arc::clone(&self.statements),
        ))
    }

    fn watch(
        &self,
        wake: Box<dyn Fn(Wake) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let channel = self.statements.channel.clone();
        Box::pin(listen::watch(
            self.options.clone(),
            self.pool.clone(),
            channel,
            wake,
        ))
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.pool.close())
    }
}

/// A row's column; the statements above name every column that is asked for.
fn column<'r, T>(row: &'r PgRow, name: &str) -> Result<T, sqlx::Error>
where
    T: sqlx::Decode<'r, Postgres> + sqlx::Type<Postgres>,
{
    row.try_get(name)
}
