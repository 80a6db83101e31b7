//! The database of one case.

use std::sync::Arc;

use tasklock_runtime::store::{Options, Source, Store, connect};
use tasklock_test_support::{postgres, sqlite};

use super::Row;
use crate::database::{Database, Rows};

/// A fresh database, gone with this handle.
pub(crate) enum Place {
    Sqlite(sqlite::File),
    Postgres(postgres::Database),
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(sqlite::file())
    }

    /// `None` where this run leaves servers out.
    pub(crate) async fn postgres() -> Option<Self> {
        postgres::database().await.map(Self::Postgres)
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgres",
        }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite(file) => file.url(),
            Self::Postgres(database) => database.url().to_owned(),
        }
    }

    pub(crate) async fn connect(&self) -> Database {
        let connected = Database::connect(&self.url()).await;
        connected.expect("the test's database can be reached")
    }

    /// Carries out statements on a connection of their own.
    pub(crate) async fn run(&self, sql: &str) -> Rows {
        let answer = self.connect().await.run(sql).await;
        answer.unwrap_or_else(|error| panic!("{error} in {sql}"))
    }

    /// The runtime's own door to it.
    pub(crate) async fn store(&self) -> Arc<dyn Store> {
        let source = Source::Url {
            option: "the test",
            url: self.url(),
        };
        let connected = connect(source, &Options::default()).await;
        connected.expect("the test's database can be reached")
    }

    /// The job of a task as it stands.
    pub(crate) async fn row(&self, task: &str) -> Row {
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
