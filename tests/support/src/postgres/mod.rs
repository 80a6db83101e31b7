//! PostgreSQL: a fresh database for each test, and servers that a test may stop.
//!
//! [`database`] gives a database on the one server that all tests of this process share: the one
//! that `TASKLOCK_TEST_POSTGRES_URL` names (its user must be allowed to create databases), else a
//! throw-away one that lives as long as this process. A test that stops, restarts or pauses its
//! server starts a [`Server`] of its own.
//!
//! With `TASKLOCK_TEST_EMBEDDED_ONLY=1` both are `None`, and a line on standard error says that
//! they were left out. In any other case a server that cannot be had is a failure, which says what
//! is missing.

mod database;
mod server;

pub use database::{Database, database, database_in};
pub use server::{Server, Stop};

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor};

const KIND: &str = "postgres";
const URL_VARIABLE: &str = "TASKLOCK_TEST_POSTGRES_URL";

/// A test's own statements are answered within this time, or the server is as good as gone.
const ANSWER: Duration = Duration::from_secs(30);

/// `None` if this run leaves servers out.
fn wanted() -> Option<()> {
    if crate::embedded_only() {
        crate::say_left_out("PostgreSQL");
        return None;
    }
    Some(())
}

async fn connect(url: &str) -> Result<PgConnection, sqlx::Error> {
    let options: PgConnectOptions = url.parse()?;
    let options = options.disable_statement_logging();
    let connecting = options.connect();
    let late = |_| sqlx::Error::Protocol(format!("no connection within {ANSWER:?}"));
    tokio::time::timeout(ANSWER, connecting)
        .await
        .map_err(late)?
}

/// One statement on a connection of its own.
async fn execute(url: &str, statement: String) -> Result<(), sqlx::Error> {
    use sqlx::Connection;
    let mut connection = connect(url).await?;
    let executing = connection.execute(AssertSqlSafe(statement));
    let late = |_| sqlx::Error::Protocol(format!("no answer within {ANSWER:?}"));
    tokio::time::timeout(ANSWER, executing)
        .await
        .map_err(late)??;
    connection.close().await
}
