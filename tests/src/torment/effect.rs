//! A handler's guarded effects: rows in a table of the application's, committed under the lease. Of a run with a
//! resource each transaction has two, one for each of its leases.

use std::str::FromStr;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::json;
use sqlx::Connection;
use sqlx::mysql::{MySqlPool, MySqlPoolOptions};
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use tasklock_runtime::{CommitError, LeaseContext};
use tasklock_test_support::process::emit;

use super::command::at;
use super::elsewhere::{self, written_elsewhere};
use super::url;
use super::watch::Run;

const CONNECTIONS: u32 = 4;
const PATIENCE: Duration = Duration::from_millis(800);
/// Each in its turn.
const BEGIN_POSTGRES: [&str; 3] = [
    "BEGIN ISOLATION LEVEL READ COMMITTED",
    "BEGIN ISOLATION LEVEL REPEATABLE READ",
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
];
const BEGIN_MYSQL: [&str; 3] = [
    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION",
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION",
    "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; START TRANSACTION",
];
const BEGIN_SQLITE: [&str; 3] = ["BEGIN IMMEDIATE", "BEGIN IMMEDIATE", "BEGIN"];

enum Pool {
    Postgres(PgPool),
    MySql(MySqlPool),
    Sqlite(SqlitePool),
    /// A file that is not the leases' database.
    Elsewhere(SqlitePool),
}

fn pool() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| {
        let url = url();
        if let Some(url) = elsewhere::url() {
            Pool::Elsewhere(file(&url))
        } else if url.starts_with("sqlite:") {
            Pool::Sqlite(file(&url))
        } else if url.starts_with("mysql:") {
            let pool = MySqlPoolOptions::new().max_connections(CONNECTIONS);
            let pool = pool.acquire_timeout(PATIENCE).connect_lazy(&url);
            Pool::MySql(pool.expect("the test's URL can be read"))
        } else {
            let pool = PgPoolOptions::new().max_connections(CONNECTIONS);
            let pool = pool.acquire_timeout(PATIENCE).connect_lazy(&url);
            Pool::Postgres(pool.expect("the test's URL can be read"))
        }
    })
}

fn file(url: &str) -> SqlitePool {
    let options = SqliteConnectOptions::from_str(url).expect("the test's URL can be read");
    let options = options.busy_timeout(Duration::from_millis(200));
    let pool = SqlitePoolOptions::new()
        .max_connections(CONNECTIONS)
        // After some errors SQLite has rolled back by itself, and sqlx does not notice.
        .before_acquire(|connection, _| {
            let usable = !connection.is_in_transaction();
            Box::pin(async move { Ok(usable) })
        });
    pool.acquire_timeout(PATIENCE).connect_lazy_with(options)
}

/// One effect, tried until it is committed or the lease is lost. Whether it is known to be committed.
///
/// # Errors
///
/// Those of [`LeaseContext::commit`] that cannot be tried again.
pub async fn effect(
    lease: &LeaseContext,
    run: &Run,
    number: u64,
    complete: bool,
) -> Result<bool, CommitError> {
    loop {
        match once(lease, number, complete).await {
            Ok(()) => {
                // In another database it cannot be the end of the job, too.
                run.acknowledge(complete && !matches!(pool(), Pool::Elsewhere(_)));
                return Ok(true);
            }
            Err(CommitError::Unknown(why)) => {
                said(lease, "unknown", &why);
                return Ok(false);
            }
            Err(CommitError::Retry(_)) if lease.check().is_ok() => {}
            Err(CommitError::Db(error)) if lease.check().is_ok() => {
                said(lease, "db", &error.to_string());
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(error) => {
                said(lease, "refused", &error.to_string());
                return Err(error);
            }
        }
    }
}

fn said(lease: &LeaseContext, event: &str, why: &str) {
    let (job, fence) = (lease.job_id(), lease.fence());
    emit(event, json!({ "job": job, "fence": fence, "why": why }));
}

async fn once(lease: &LeaseContext, number: u64, complete: bool) -> Result<(), CommitError> {
    let db = |error: sqlx::Error| CommitError::Db(error.into());
    let level = usize::try_from((number + lease.fence().unsigned_abs()) % 3).expect("it fits");
    // The second lease's first: an end that comes with an effect is logged right behind the job's.
    let second = lease.resource().zip(lease.resource_fence());
    let second = second.map(|(name, fence)| (0, fence, Some(name)));
    let effects = second
        .into_iter()
        .chain([(lease.job_id(), lease.fence(), None)]);
    let owner = lease.owner().as_str();
    // The same text for two of the databases.
    let insert = "INSERT INTO effect (job, fence, owner, name) VALUES ($1, $2, $3, $4)";
    at("effect to be written");
    match pool() {
        Pool::Elsewhere(pool) => {
            let effects: Vec<_> = effects.collect();
            written_elsewhere(pool, lease, &effects).await
        }
        Pool::Postgres(pool) => {
            let mut tx = pool.begin_with(BEGIN_POSTGRES[level]).await.map_err(db)?;
            for (job, fence, name) in effects {
                let insert = sqlx::query(insert)
                    .bind(job)
                    .bind(fence)
                    .bind(owner)
                    .bind(name);
                insert.execute(&mut *tx).await.map_err(db)?;
            }
            at("effect written");
            if complete {
                lease.complete_in(tx).await
            } else {
                lease.commit(tx).await
            }
        }
        Pool::MySql(pool) => {
            let mut tx = pool.begin_with(BEGIN_MYSQL[level]).await.map_err(db)?;
            for (job, fence, name) in effects {
                let insert =
                    sqlx::query("INSERT INTO effect (job, fence, owner, name) VALUES (?, ?, ?, ?)")
                        .bind(job)
                        .bind(fence)
                        .bind(owner)
                        .bind(name);
                insert.execute(&mut *tx).await.map_err(db)?;
            }
            at("effect written");
            if complete {
                lease.complete_in(tx).await
            } else {
                lease.commit(tx).await
            }
        }
        Pool::Sqlite(pool) => {
            let mut tx = pool.begin_with(BEGIN_SQLITE[level]).await.map_err(db)?;
            for (job, fence, name) in effects {
                let insert = sqlx::query(insert)
                    .bind(job)
                    .bind(fence)
                    .bind(owner)
                    .bind(name);
                insert.execute(&mut *tx).await.map_err(db)?;
            }
            at("effect written");
            if complete {
                lease.complete_in(tx).await
            } else {
                lease.commit(tx).await
            }
        }
    }
}

/// Uses up the application's connections.
pub(crate) async fn hog(time: Duration) {
    match pool() {
        Pool::Postgres(pool) => hold_all(pool, time).await,
        Pool::MySql(pool) => hold_all(pool, time).await,
        Pool::Sqlite(pool) | Pool::Elsewhere(pool) => hold_all(pool, time).await,
    }
}

async fn hold_all<DB: sqlx::Database>(pool: &sqlx::Pool<DB>, time: Duration) {
    let mut held = Vec::new();
    while held.len() < CONNECTIONS as usize
        && let Ok(connection) = pool.acquire().await
    {
        held.push(connection);
    }
    tokio::time::sleep(time).await;
}
