//! What the handlers share: the application's own connections, and what some of them remember.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use tasklock_tests::stage::url;

/// The application's pool, on the database of the jobs.
#[derive(Debug)]
pub(crate) enum Application {
    Postgres(PgPool),
    Sqlite(SqlitePool),
}

impl Application {
    pub(crate) fn open() -> Self {
        let url = url();
        if url.starts_with("sqlite:") {
            let options = SqliteConnectOptions::from_str(&url).expect("the test's URL can be read");
            let options = options
                .create_if_missing(true)
                .busy_timeout(Duration::from_secs(30));
            // One at a time can write.
            let pool = SqlitePoolOptions::new().max_connections(1);
            Self::Sqlite(pool.connect_lazy_with(options))
        } else {
            let pool = PgPoolOptions::new().max_connections(4).connect_lazy(&url);
            Self::Postgres(pool.expect("the test's URL can be read"))
        }
    }

    /// A table's rows, counted.
    pub(crate) async fn count(&self, table: &'static str) -> Result<i64, sqlx::Error> {
        let count = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
        match self {
            Self::Postgres(pool) => sqlx::query_scalar(count).fetch_one(pool).await,
            Self::Sqlite(pool) => sqlx::query_scalar(count).fetch_one(pool).await,
        }
    }
}

/// How often each job was run in this process.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<HashMap<i64, u32>>);

impl Answers {
    /// Which run of this job it is, from 1.
    pub(crate) fn nth(&self, job: i64) -> u32 {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let nth = runs.entry(job).or_default();
        *nth += 1;
        *nth
    }
}
