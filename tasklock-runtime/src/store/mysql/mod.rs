//! Leases in MariaDB and MySQL.
//!
//! # How it is done here
//!
//! InnoDB plans by its own lights, and an update that joins tables may evaluate its assignments in any order. So a verb that writes
//! is made of small steps in one READ COMMITTED transaction: **look** at what there is without a lock, **lock** rows by their
//! ids (`FOR UPDATE SKIP LOCKED`, by the primary key alone), and **write** them by their ids. What a locked row becomes is computed by the
//! statement that locks it, and the statement that writes it only names constants. A look is a prefilter. What decides is
//! read again under the lock: the row itself in the statement that locks it, its side row in a later one, whose snapshot is newer
//! than the lock.
//!
//! Batches travel as JSON, read by `JSON_TABLE`. Ids of new rows follow from the first one of a statement, for InnoDB gives a
//! statement that says how many rows it has a block of them.
//!
//! Nothing waits for a row's lock but a guard, an operator's call on one job, a start (for another start), an insert that meets a key
//! of an open transaction, and a prune, which then has nothing else locked. So most deadlocks are none of ours; those that come are
//! tried again.
//!
//! Instants are microseconds in `BIGINT`, by `UTC_TIMESTAMP(6)`: no time zone of session or server changes them, and none has
//! a gap. It is the statement's start, which errs to the safe side: an expiry that is written is no later than it might be.
//!
//! # What is read
//!
//! No call reads more where more jobs wait, or have ended. An index has all rows here, so each begins with a column that is NULL in
//! those that it is not for, and names the task or the resource in the others: a look at what falls due meets no ended job. Within
//! a task a look takes steps of the index: the first row, the next lower priority, the rows before an instant.
//!
//! A step that ends at the first row may take its task from the batch. A range may not: only a constant bounds it, and with a column
//! in its place all rows of the task are read. Then the tasks are parameters, in a list or in the parts of a union. And what must not
//! be there is asked for by a subquery with one value, row by row: NOT EXISTS may be made into a table of all that is there.
//!
//! What runs is read as far as it was renewed, and one run more of each task: in the order of what their own rows say, none behind the
//! first that nobody has renewed expires before that one. Those that have expired are looked for where this look has met any.
//!
//! What was taken out of an index stays in it, marked, as long as any snapshot on the server is older, and is stepped over. So claims
//! read more the longer a transaction of the application's keeps its snapshot: all that was claimed since of the same task and
//! priority, each time. They lock and answer the same.
//!
//! # What crashes leave behind
//!
//! A worker's own transactions commit everything or nothing. One that dies or is stopped in the midst of one holds its
//! locks until the server ends it: MariaDB after two seconds; MySQL has no such time-out, and waits until the
//! connection is lost. Nobody waits for these locks meanwhile; the rows are skipped.
//!
//! # Wake-ups
//!
//! There is nothing to listen to. Workers of the process that has written something are told; others poll.

mod beat;
mod claim;
mod declare;
mod drawn;
mod ends;
mod expired;
mod fence;
mod fragments;
mod guard;
mod insert;
mod jobs;
mod lanes;
mod migrate;
mod named;
mod new_names;
mod parked;
mod peek;
mod renamed;
mod resources;
mod rows;
mod session;
mod statements;
mod steer;
mod verbs;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions, MySqlRow};
use sqlx::{Connection, MySql, MySqlConnection, MySqlPool, Row};
use tokio::sync::Notify;

use super::connect::Options;
use super::schema::{self, Dialect, Names};
use super::sql::{SqlRenewer, retried, store_error, store_verbs};
use super::{
    Acquire, Acquired, Cancelled, ClaimBatch, ClaimRequest, Declaration, Enqueued, Finish, Job,
    JobQuery, JobRow, NewJob, News, Pausable, Renewer, Retried, Steer, Store, StoreFuture,
    Triggered, Wake,
};
use crate::error::{Error, StoreError, StoreErrorKind};
use crate::lease::{Anchor, LeaseKey, OwnerToken};
use session::Use;
use statements::Statements;

const CONNECTIONS: u32 = 6;
const ACQUIRE: Duration = Duration::from_secs(5);
/// Prepared statements that a connection keeps: more than are usual. One that is closed holds up the next
/// message for 40 ms (see `insert`).
const PREPARED: usize = 120;

struct MySqlStore {
    /// Told when something was written that a worker may take.
    written: Arc<Notify>,
    /// Limited tasks that have a row to be locked.
    limited: Mutex<Vec<String>>,
    name: String,
    pool: MySqlPool,
    options: MySqlConnectOptions,
    statements: Arc<Statements>,
    names: Names,
    /// Known once the tables were seen.
    identity: OnceLock<Arc<str>>,
}

impl fmt::Debug for MySqlStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MySqlStore({})", self.name)
    }
}

/// Opens the store and asks the server who it is, to see that it is there.
pub(super) async fn open(
    name: String,
    options: MySqlConnectOptions,
    settings: &Options,
) -> Result<Arc<dyn Store>, Error> {
    if let Some(schema) = &settings.schema {
        return Err(Error::option(
            format!("schema = {schema:?}"),
            "in MySQL and MariaDB a schema is a database: name that in the URL, or use table_prefix",
        ));
    }
    if options.get_database().is_none_or(str::is_empty) {
        return Err(Error::option(
            "database_url",
            format!("{name} names no database: write mysql://user:password@host/database"),
        ));
    }
    let names = Names::new(settings.table_prefix.as_deref(), None)?;
    let name = names.of_store(name);
    // Without the pool first: it would try again until its time is up, and hide the reason.
    let failed = |error| store_error(&name, "connect", diagnose, error);
    let first = async {
        let mut connection = MySqlConnection::connect_with(&options).await?;
        let version: String = sqlx::query_scalar("SELECT CONCAT(VERSION(), '')")
            .fetch_one(&mut connection)
            .await?;
        let _ = connection.close().await;
        Ok(version)
    };
    let version = match tokio::time::timeout(ACQUIRE, first).await {
        Ok(version) => version.map_err(failed)?,
        Err(_) => {
            return Err(StoreError {
                store: name,
                call: "connect",
                kind: StoreErrorKind::Unavailable,
                message: format!("no answer within {ACQUIRE:?}: check host, port and firewall"),
            }
            .into());
        }
    };
    let server = Server::of(&version);
    let options = options.statement_cache_capacity(PREPARED);
    let pool = MySqlPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(ACQUIRE)
        // A stale connection shows itself in the call, which is tried again anyway.
        .test_before_acquire(false)
        .after_connect(move |connection, _| Box::pin(server.prepare(connection, Use::Calls)))
        .connect_lazy_with(options.clone());
    Ok(Arc::new(MySqlStore {
        written: Arc::default(),
        limited: Mutex::default(),
        name,
        pool,
        options,
        statements: Arc::new(Statements::new(&names, server)),
        names,
        identity: OnceLock::new(),
    }))
}

/// Which of the two it is: they differ in a few words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    MariaDb,
    MySql,
}

impl Server {
    fn of(version: &str) -> Self {
        if version.to_ascii_lowercase().contains("mariadb") {
            Self::MariaDb
        } else {
            Self::MySql
        }
    }

    fn dialect(self) -> Dialect {
        match self {
            Self::MariaDb => Dialect::MariaDb,
            Self::MySql => Dialect::MySql,
        }
    }
}

/// What the server means by an error.
fn diagnose(error: &sqlx::Error) -> (StoreErrorKind, &'static str) {
    let Some(error) = error
        .as_database_error()
        .and_then(|error| error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>())
    else {
        return (StoreErrorKind::Other, "");
    };
    match error.number() {
        // Deadlock, lock wait time-out (also where it was for the next id), a record that has changed since it was read, a
        // duplicate key: two asked for the same at once, and the other was first.
        1213 | 1205 | 1467 | 1020 | 1062 => (StoreErrorKind::Busy, ""),
        1290 | 1792 | 1836 | 3100 => (
            StoreErrorKind::NotWritable,
            "the server takes no writes: point the URL at the primary, not at a replica",
        ),
        1665 => (
            StoreErrorKind::NotWritable,
            "transactions at READ COMMITTED need a binary log of rows: set binlog_format to MIXED or ROW on the server",
        ),
        1142 | 1143 | 1227 | 1370 => (
            StoreErrorKind::NotWritable,
            "the user lacks a grant: `tasklock_runtime::schema_sql` lists those that are needed",
        ),
        1021 | 1114 | 1030 | 3 => (
            StoreErrorKind::NotWritable,
            "free some disk space on the server",
        ),
        1146 | 1054 => (
            StoreErrorKind::Schema,
            "the tables are missing or of another version: start one worker with `migrate(true)`",
        ),
        1049 => (StoreErrorKind::Unavailable, "create the database first"),
        // Also where there is no such database, for who may not know that.
        1044 => (
            StoreErrorKind::Unavailable,
            "check the database's name in the URL, and that the user has grants on it",
        ),
        1045 | 1698 => (
            StoreErrorKind::Unavailable,
            "check user and password in the URL",
        ),
        1040 | 1203 | 1226 => (
            StoreErrorKind::Unavailable,
            "the server's max_connections is used up; a worker needs up to seven connections",
        ),
        1461 => (
            StoreErrorKind::Unavailable,
            "the server's max_prepared_stmt_count is used up; a worker prepares up to 840 statements",
        ),
        // Shutting down, killed, gone, closed for idleness.
        1053 | 1077 | 1079 | 1152 | 1158..=1161 | 1184 | 1317 | 1927 | 4031 | 2006 | 2013 => {
            (StoreErrorKind::Unavailable, "")
        }
        _ => (StoreErrorKind::Other, ""),
    }
}

impl MySqlStore {
    fn renewer_options(&self) -> MySqlConnectOptions {
        self.options.clone()
    }

    /// What this process has written. Others are not heard, so the workers poll besides.
    fn watcher(
        &self,
        wake: Box<dyn Fn(Wake) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        // Each hears from when it is made on: the first one from now, and the next one from before the work is looked for.
        let written = Arc::clone(&self.written);
        let mut next = Arc::clone(&written).notified_owned();
        Box::pin(async move {
            loop {
                next.await;
                next = Arc::clone(&written).notified_owned();
                wake(Wake::Work);
            }
        })
    }

    fn lease_watcher(
        &self,
        hear: Box<dyn Fn(News) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.watcher(Box::new(move |wake| hear(wake.into())))
    }
}

store_verbs!(MySqlStore, Dialect::MariaDb);

/// A row's column; the statements name every column that is asked for.
fn column<'r, T>(row: &'r MySqlRow, name: &str) -> Result<T, sqlx::Error>
where
    T: sqlx::Decode<'r, MySql> + sqlx::Type<MySql>,
{
    row.try_get(name)
}
