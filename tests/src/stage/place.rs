//! The database of one case.

use std::sync::Arc;

use tasklock_runtime::store::{Options, Source, Store, connect};
use tasklock_test_support::{postgres, sqlite};

use super::Row;
use super::database::{Database, Rows};

/// A fresh database, gone with this handle.
pub enum Place {
    /// A file.
    Sqlite(sqlite::File),
    /// On the shared server.
    Postgres(postgres::Database),
}

impl Place {
    /// A file of its own.
    pub fn sqlite() -> Self {
        Self::Sqlite(sqlite::file())
    }

    /// `None` where this run leaves servers out.
    pub async fn postgres() -> Option<Self> {
        postgres::database().await.map(Self::Postgres)
    }

    /// As a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgres",
        }
    }

    /// Where it is, for workers.
    pub fn url(&self) -> String {
        match self {
            Self::Sqlite(file) => file.url(),
            Self::Postgres(database) => database.url().to_owned(),
        }
    }

    /// A connection to it.
    ///
    /// # Panics
    ///
    /// If it cannot be reached.
    pub async fn connect(&self) -> Database {
        let connected = Database::connect(&self.url()).await;
        connected.expect("the test's database can be reached")
    }

    /// Carries out statements on a connection of their own.
    ///
    /// # Panics
    ///
    /// If one of them fails.
    pub async fn run(&self, sql: &str) -> Rows {
        let answer = self.connect().await.run(sql).await;
        answer.unwrap_or_else(|error| panic!("{error} in {sql}"))
    }

    /// Makes the tables, for a test that needs them before there is a worker.
    ///
    /// # Panics
    ///
    /// If they cannot be made.
    pub async fn migrate(&self) {
        let store = self.store().await;
        store.migrate().await.expect("the tables can be made");
        store.close().await;
    }

    /// The runtime's own door to it.
    ///
    /// # Panics
    ///
    /// If it cannot be reached.
    pub async fn store(&self) -> Arc<dyn Store> {
        let source = Source::Url {
            option: "the test",
            url: self.url(),
        };
        let connected = connect(source, &Options::default()).await;
        connected.expect("the test's database can be reached")
    }

    /// The one job of a task as it stands.
    ///
    /// # Panics
    ///
    /// If there is none, or more than one.
    pub async fn row(&self, task: &str) -> Row {
        let sql = match self {
            Self::Sqlite(_) => {
                "SELECT id, state, lock_owner, fence, lock_until, NULL, NULL, attempt, crashes,
                    last_outcome, last_error, {now} FROM tasklock_job WHERE task = '{task}'"
            }
            Self::Postgres(_) => {
                "SELECT id, state, lock_owner, j.fence,
                    (extract(epoch FROM j.lock_until) * 1000000)::bigint, h.fence,
                    (extract(epoch FROM h.lock_until) * 1000000)::bigint, attempt, crashes,
                    last_outcome, last_error, {now}
                 FROM tasklock_job j LEFT JOIN tasklock_heartbeat h ON h.job_id = j.id
                 WHERE task = '{task}'"
            }
        };
        let rows = self.run(&sql.replace("{task}", task)).await;
        let [row] = &rows[..] else {
            panic!("one job of {task}, not {rows:?}");
        };
        Row::read(row)
    }
}
