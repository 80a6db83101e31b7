//! Leases in a SQLite file, for processes on one machine.
//!
//! SQLite has one writer at a time, so a job's row takes its renewals too: a side row would save
//! nothing. Every write is one `BEGIN IMMEDIATE` transaction, or one statement, which amounts to the
//! same. What that costs: *any* write transaction in the same file, the application's own included,
//! holds up every claim, end and heartbeat until it ends, and a process that is stopped inside one
//! holds them up until it goes on or dies. Keep them shorter than the outage that a lease survives
//! (`ttl - margin - heartbeat - ttl/8`), or put the leases into a file of their own.
//!
//! Connections of one process: one for claims and ends, one for the heartbeat, one that reads
//! `PRAGMA data_version` twenty times a second to see that another connection has written (it takes
//! no lock and reads no page).

mod beat;
mod declare;
mod fence;
mod fragments;
mod guard;
mod jobs;
mod migrate;
mod named;
mod renamed;
mod resources;
mod rows;
mod statements;
mod verbs;
mod watch;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{Connection, Row, Sqlite, SqliteConnection, SqlitePool};

use tokio::sync::Notify;

use super::connect::Options;
use super::schema::{self, Dialect, Names};
use super::sql::json::batch;
use super::sql::{SqlRenewer, retried, store_verbs};
use super::{
    Acquire, Acquired, Cancelled, ClaimBatch, ClaimRequest, Declaration, Enqueued, Finish, Job,
    JobQuery, JobRow, NewJob, News, Pausable, Renewer, Retried, Steer, Store, StoreFuture,
    Triggered, Wake,
};
use crate::error::{Error, StoreError, StoreErrorKind};
use crate::lease::{Anchor, LeaseKey, OwnerToken};
use statements::Statements;

/// How long a statement waits for another writer before it is tried again.
const BUSY: Duration = Duration::from_secs(1);
const HEARTBEAT_BUSY: Duration = Duration::from_millis(100);
const ACQUIRE: Duration = Duration::from_secs(5);

/// Which file a path names: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId(u64, u64);

impl FileId {
    /// An error if there is none.
    fn of(path: &std::path::Path) -> Result<Self, sqlx::Error> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let found = std::fs::metadata(path)?;
            Ok(Self(found.dev(), found.ino()))
        }
        #[cfg(not(unix))]
        {
            let _ = path;
            Ok(Self(0, 0))
        }
    }

    /// SQLite goes on in a file that was deleted or replaced, where no other process sees its leases.
    fn still(self, path: &std::path::Path) -> Result<(), sqlx::Error> {
        match Self::of(path) {
            Ok(found) if found == self => Ok(()),
            _ => Err(sqlx::Error::Io(std::io::Error::other(
                "the file was deleted or replaced after it was opened",
            ))),
        }
    }
}

struct SqliteStore {
    /// Told when something was written that a worker may take.
    written: Arc<Notify>,
    /// The file that the pool's one connection has open.
    open: Arc<Mutex<Option<FileId>>>,
    name: String,
    pool: SqlitePool,
    options: SqliteConnectOptions,
    statements: Arc<Statements>,
    names: Names,
    /// Known once the tables were seen.
    identity: OnceLock<Arc<str>>,
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SqliteStore({})", self.name)
    }
}

/// Opens the file in WAL mode, creating it if that is wanted.
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
        .create_if_missing(!settings.must_exist)
        .journal_mode(SqliteJournalMode::Wal)
        // A commit that a power cut takes back would give its fence out twice.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY);
    let open = Arc::new(Mutex::new(None));
    let path = options.get_filename().to_path_buf();
    let opened = Arc::clone(&open);
    let store = SqliteStore {
        written: Arc::default(),
        open,
        name: names.of_store(format!("sqlite file {file}")),
        pool: SqlitePoolOptions::new()
            .after_connect(move |_, _| {
                let found = FileId::of(&path);
                if let Ok(mut open) = opened.lock() {
                    *open = found.as_ref().ok().copied();
                }
                Box::pin(async move { found.map(|_| ()) })
            })
            .max_connections(1)
            .acquire_timeout(ACQUIRE)
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None)
            // Opened once below; a file that has gone since must not come back empty.
            .connect_lazy_with(options.clone().create_if_missing(false)),
        statements: Arc::new(Statements::new(&names, options.get_filename())),
        options,
        names,
        identity: OnceLock::new(),
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
            "check that the file and its folder exist and may be written",
        ),
        26 | 11 => (
            StoreErrorKind::Other,
            "this is no SQLite database, or a damaged one",
        ),
        1 if database.message().contains("no such table")
            || database.message().contains("no such column")
            || database.message().contains("has no column named") =>
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
    /// The heartbeat waits shortly, for a call that is given up goes on waiting in its connection's
    /// thread; it tries again itself. And a file that has gone must not come back empty.
    fn renewer_options(&self) -> SqliteConnectOptions {
        self.options
            .clone()
            .busy_timeout(HEARTBEAT_BUSY)
            .create_if_missing(false)
    }

    fn watcher(
        &self,
        wake: Box<dyn Fn(Wake) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let written = Arc::clone(&self.written);
        Box::pin(watch::watch(self.options.clone(), written, wake))
    }
}

impl SqliteStore {
    fn lease_watcher(
        &self,
        hear: Box<dyn Fn(News) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.watcher(Box::new(move |wake| hear(wake.into())))
    }
}

store_verbs!(SqliteStore, Dialect::Sqlite);

/// A row's column; the statements name every column that is asked for.
fn column<'r, T>(row: &'r SqliteRow, name: &str) -> Result<T, sqlx::Error>
where
    T: sqlx::Decode<'r, Sqlite> + sqlx::Type<Sqlite>,
{
    row.try_get(name)
}
