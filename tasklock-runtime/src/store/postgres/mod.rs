//! Leases in PostgreSQL.
//!
//! Connections of one process: a pool of at most six (claims, ends, pruning; of clients two calls, two acquisitions and one
//! that gives up a place at once), one for the heartbeat, one
//! that listens. The listener is tested with an announcement of its own before it is relied on: a
//! pooler in transaction mode accepts LISTEN, and delivers nothing.

mod announce;
mod beat;
mod claim;
mod declare;
mod fence;
mod fragments;
mod guard;
mod jobs;
mod listen;
mod micros;
mod migrate;
mod named;
mod renamed;
mod resources;
mod rows;
mod statements;
mod verbs;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgRow};
use sqlx::{Connection, PgConnection, PgPool, Postgres, Row};

use super::connect::Options;
use super::listening::{self, Heard};
use super::schema::{self, Dialect, Names};
use super::sql::{SqlRenewer, retried, store_error, store_verbs};
use super::{
    Acquire, Acquired, Cancelled, ClaimBatch, ClaimRequest, Declaration, Enqueued, Finish, Job,
    JobQuery, JobRow, NewJob, News, Pausable, Renewer, Retried, Steer, Store, StoreFuture,
    Triggered, Wake,
};
use crate::error::{Error, StoreError, StoreErrorKind};
use crate::lease::{Anchor, LeaseKey, OwnerToken};
use statements::Statements;

const CONNECTIONS: u32 = 6;
const ACQUIRE: Duration = Duration::from_secs(5);

struct PgStore {
    name: String,
    pool: PgPool,
    options: PgConnectOptions,
    statements: Arc<Statements>,
    names: Names,
    /// Known once the tables were seen.
    identity: OnceLock<Arc<str>>,
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
        name: names.of_store(name),
        pool,
        options,
        statements: Arc::new(Statements::new(&names)),
        names,
        identity: OnceLock::new(),
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
        // A duplicate key: two asked for the same at once, and the other was first.
        "40001" | "40P01" | "55P03" | "23505" => (StoreErrorKind::Busy, ""),
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
            "the server's max_connections is used up; a worker needs up to eight connections, and one more while somebody waits for a named lease",
        ),
        code if code.starts_with("08") || code.starts_with("57P") => {
            (StoreErrorKind::Unavailable, "")
        }
        _ => (StoreErrorKind::Other, ""),
    }
}

impl PgStore {
    fn renewer_options(&self) -> PgConnectOptions {
        self.options.clone()
    }

    fn watcher(
        &self,
        wake: Box<dyn Fn(Wake) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.listener(&self.statements.channel, move |heard| {
            if let Some(heard) = heard.wake() {
                wake(heard);
            }
        })
    }

    fn lease_watcher(
        &self,
        hear: Box<dyn Fn(News) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.listener(&self.statements.lease_channel, move |heard| {
            if let Some(news) = heard.news() {
                hear(news);
            }
        })
    }

    fn listener(
        &self,
        channel: &str,
        hear: impl Fn(Heard<'_>) + Send + Sync + 'static,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let listening = listen::Channel {
            options: self.options.clone(),
            pool: self.pool.clone(),
            channel: channel.to_owned(),
        };
        Box::pin(listening::watch(listening, hear))
    }
}

store_verbs!(PgStore, Dialect::Postgres);

/// A row's column; the statements above name every column that is asked for.
fn column<'r, T>(row: &'r PgRow, name: &str) -> Result<T, sqlx::Error>
where
    T: sqlx::Decode<'r, Postgres> + sqlx::Type<Postgres>,
{
    row.try_get(name)
}
