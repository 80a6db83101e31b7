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

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor, Postgres};

pub use crate::server::Stop;

use crate::database::Sql;
use crate::server::{Kind, Shared};

/// A database on a PostgreSQL server.
pub type Database = crate::database::Database<Postgres>;

/// A PostgreSQL server of a test's own. Its URL is that of its database `postgres`, for its
/// superuser; its process is the postmaster.
pub type Server = crate::server::Server<Postgres>;

/// A fresh database on the shared server. `None` with `TASKLOCK_TEST_EMBEDDED_ONLY`.
///
/// # Panics
///
/// As [`Database::fresh`](crate::database::Database::fresh).
pub async fn database() -> Option<Database> {
    Database::fresh().await
}

/// Like [`database`], in an encoding other than UTF-8, such as `LATIN1`.
///
/// # Panics
///
/// As [`database`].
pub async fn database_in(encoding: &str) -> Option<Database> {
    Database::on_shared_server(&format!("encoding '{encoding}' locale 'C'")).await
}

impl Kind for Postgres {
    const SCRIPT: &'static str = "postgres";
    const PRODUCT: &'static str = "PostgreSQL";
    const URL_VARIABLE: &'static str = "TASKLOCK_TEST_POSTGRES_URL";

    fn shared() -> &'static Shared {
        static SHARED: Shared = Shared::new();
        &SHARED
    }
}

impl Sql for Postgres {
    async fn create(
        connection: &mut PgConnection,
        name: &str,
        options: &str,
    ) -> Result<(), sqlx::Error> {
        // template0, since nobody can be connected to it, which would fail this.
        let statement = format!("create database {name} template template0 {options}");
        connection.execute(AssertSqlSafe(statement)).await.map(drop)
    }

    async fn remove(connection: &mut PgConnection, name: &str) -> Result<(), sqlx::Error> {
        let statement = format!("drop database if exists {name} with (force)");
        connection.execute(AssertSqlSafe(statement)).await.map(drop)
    }
}
