//! Who held which name from when until when, by the store's clock.
//!
//! Each note is a transaction that the lease guards: so an interval begins after the acquisition and ends before
//! the lease does, whatever became of the process that wrote it.

use std::str::FromStr;
use std::time::Duration;

use sqlx::AssertSqlSafe;
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use tasklock_runtime::{CommitError, LeaseContext};

use super::Place;

/// One line for each holder of a name; instants are microseconds since 1970 by the store's clock.
const TABLE: &str = "CREATE TABLE note (name text NOT NULL, fence bigint NOT NULL, owner text NOT NULL,
    job bigint NOT NULL, began bigint NOT NULL, lasted bigint NOT NULL, PRIMARY KEY (name, fence, owner))";
const NOTE: &str = "INSERT INTO note (name, fence, owner, job, began, lasted)
    VALUES ($1, $2, $3, $4, {now}, {now})
    ON CONFLICT (name, fence, owner) DO UPDATE SET lasted = {now}";

/// A pool of the application's, on the database of the leases.
#[derive(Debug, Clone)]
pub enum Notes {
    /// Of Postgres.
    Postgres(PgPool),
    /// Of a SQLite file.
    Sqlite(SqlitePool),
}

/// A holder, as it has noted itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it held.
    pub name: String,
    /// Under this fence.
    pub fence: i64,
    /// Of the job, or of the lease by hand.
    pub job: i64,
    /// When it first noted that.
    pub began: i64,
    /// When it last did.
    pub lasted: i64,
}

impl Notes {
    /// Of the database behind a URL.
    ///
    /// # Panics
    ///
    /// If the URL cannot be read.
    pub fn open(url: &str) -> Self {
        if url.starts_with("sqlite:") {
            let options = SqliteConnectOptions::from_str(url).expect("the test's URL can be read");
            let options = options.busy_timeout(Duration::from_secs(30));
            // One at a time can write.
            let pool = SqlitePoolOptions::new().max_connections(1);
            Self::Sqlite(pool.connect_lazy_with(options))
        } else {
            let pool = PgPoolOptions::new().max_connections(4).connect_lazy(url);
            Self::Postgres(pool.expect("the test's URL can be read"))
        }
    }

    /// Makes the table.
    pub async fn install(place: &Place) {
        place.run(TABLE).await;
    }

    /// Notes that a lease is held, of its resource if it has one; or completes its job with that.
    ///
    /// # Errors
    ///
    /// Those of [`LeaseContext::commit`], but for conflicts: then it is tried again.
    pub async fn note(&self, lease: &LeaseContext, complete: bool) -> Result<(), CommitError> {
        loop {
            match self.once(lease, complete).await {
                Err(CommitError::Retry(_)) => {}
                noted => return noted,
            }
        }
    }

    async fn once(&self, lease: &LeaseContext, complete: bool) -> Result<(), CommitError> {
        let db = |error: sqlx::Error| CommitError::Db(error.into());
        let name = lease.resource().unwrap_or(lease.task()).to_owned();
        let fence = lease.resource_fence().unwrap_or(lease.fence());
        let (owner, job) = (lease.owner().as_str(), lease.job_id());
        let note = |clock| AssertSqlSafe(NOTE.replace("{now}", clock));
        match self {
            Self::Postgres(pool) => {
                let mut tx = pool.begin().await.map_err(db)?;
                let note = sqlx::query(note(super::database::CLOCK_OF_POSTGRES));
                let note = note.bind(name).bind(fence).bind(owner).bind(job);
                note.execute(&mut *tx).await.map_err(db)?;
                match complete {
                    true => lease.complete_in(tx).await,
                    false => lease.commit(tx).await,
                }
            }
            Self::Sqlite(pool) => {
                let mut tx = pool.begin_with("BEGIN IMMEDIATE").await.map_err(db)?;
                let note = sqlx::query(note(super::database::CLOCK_OF_SQLITE));
                let note = note.bind(name).bind(fence).bind(owner).bind(job);
                note.execute(&mut *tx).await.map_err(db)?;
                match complete {
                    true => lease.complete_in(tx).await,
                    false => lease.commit(tx).await,
                }
            }
        }
    }

    /// How many rows a table of the application's has.
    ///
    /// # Errors
    ///
    /// The database's.
    pub async fn count(&self, table: &'static str) -> Result<i64, sqlx::Error> {
        let count = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
        match self {
            Self::Postgres(pool) => sqlx::query_scalar(count).fetch_one(pool).await,
            Self::Sqlite(pool) => sqlx::query_scalar(count).fetch_one(pool).await,
        }
    }

    /// All notes, by name and fence.
    ///
    /// # Panics
    ///
    /// If the table is not there.
    pub async fn read(place: &Place) -> Vec<Note> {
        let all = "SELECT name, fence, job, began, lasted FROM note ORDER BY name, fence";
        let rows = place.run(all).await;
        let read = |row: Vec<Option<String>>| {
            let text = |column: usize| row[column].clone().unwrap_or_default();
            let number = |column| text(column).parse().expect("this column is a number");
            Note {
                name: text(0),
                fence: number(1),
                job: number(2),
                began: number(3),
                lasted: number(4),
            }
        };
        rows.into_iter().map(read).collect()
    }
}
