//! MariaDB: a fresh database for each test, and servers that a test may stop.
//!
//! It is as with [`postgres`](crate::postgres); the variable that names a running server is
//! `TASKLOCK_TEST_MYSQL_URL`. Its user must be allowed to create databases, and to see and end the
//! connections of others.

use std::ops::ControlFlow;

use sqlx::mysql::{MySqlConnection, MySqlDatabaseError};
use sqlx::{AssertSqlSafe, Executor, MySql};

pub use crate::server::Stop;

use crate::database::Sql;
use crate::server::{Kind, Shared};

/// A database on a MariaDB server.
pub type Database = crate::database::Database<MySql>;

/// A MariaDB server of a test's own. Its URL is that of its database `mysql`, for a user who may do
/// everything.
pub type Server = crate::server::Server<MySql>;

/// A fresh database on the shared server. `None` with `TASKLOCK_TEST_EMBEDDED_ONLY`.
///
/// # Panics
///
/// As [`Database::fresh`](crate::database::Database::fresh).
pub async fn database() -> Option<Database> {
    Database::fresh().await
}

impl Kind for MySql {
    const SCRIPT: &'static str = "mariadb";
    const PRODUCT: &'static str = "MariaDB";
    const URL_VARIABLE: &'static str = "TASKLOCK_TEST_MYSQL_URL";

    fn shared() -> &'static Shared {
        static SHARED: Shared = Shared::new();
        &SHARED
    }
}

impl Sql for MySql {
    async fn create(
        connection: &mut MySqlConnection,
        name: &str,
        options: &str,
    ) -> Result<(), sqlx::Error> {
        let statement = format!("create database {name} {options}");
        connection.execute(AssertSqlSafe(statement)).await.map(drop)
    }

    async fn remove(connection: &mut MySqlConnection, name: &str) -> Result<(), sqlx::Error> {
        connection.execute("set lock_wait_timeout = 1").await?;
        while try_to_remove(connection, name).await?.is_continue() {}
        Ok(())
    }
}

/// There is no `with (force)` here: an open transaction's locks on the tables hold up the drop. So
/// who is connected is disconnected first, again when somebody came back in between.
async fn try_to_remove(
    connection: &mut MySqlConnection,
    name: &str,
) -> Result<ControlFlow<()>, sqlx::Error> {
    let connected = "select id from information_schema.processlist where db = ?";
    let connected: Vec<i64> = sqlx::query_scalar(connected)
        .bind(name)
        .fetch_all(&mut *connection)
        .await?;
    for id in connected {
        let ending = connection.execute(AssertSqlSafe(format!("kill connection {id}")));
        unless(NO_SUCH_CONNECTION, ending.await)?;
    }
    let dropping = connection.execute(AssertSqlSafe(format!("drop database if exists {name}")));
    Ok(match unless(LOCKED, dropping.await)? {
        Some(_) => ControlFlow::Break(()),
        None => ControlFlow::Continue(()),
    })
}

const NO_SUCH_CONNECTION: u16 = 1094;
const LOCKED: u16 = 1205;

/// `None` for the one error that is expected.
fn unless<T>(expected: u16, result: Result<T, sqlx::Error>) -> Result<Option<T>, sqlx::Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(sqlx::Error::Database(error))
            if error
                .try_downcast_ref::<MySqlDatabaseError>()
                .is_some_and(|error| error.number() == expected) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
