//! A connection to look with at what a system has written.

use std::time::Duration;

use anyhow::Result;
use redis::aio::MultiplexedConnection;
use sqlx::mysql::MySqlConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use super::redis::connect;
use crate::store::Store;

pub enum Look {
    Postgres(PgConnection),
    MariaDb(MySqlConnection),
    Sqlite(SqliteConnection),
    Redis(MultiplexedConnection),
}

impl Look {
    pub async fn at(url: &str) -> Result<Self> {
        Ok(match Store::of(url)? {
            Store::Postgres => Self::Postgres(PgConnection::connect(url).await?),
            Store::MariaDb => Self::MariaDb(MySqlConnection::connect(url).await?),
            Store::Redis => Self::Redis(connect(url).await?),
            Store::Sqlite => {
                let options: SqliteConnectOptions = url.parse()?;
                let options = options.busy_timeout(Duration::from_secs(10));
                Self::Sqlite(SqliteConnection::connect_with(&options).await?)
            }
        })
    }

    /// The one value of a query; on Redis, of a script.
    pub async fn number(&mut self, query: &'static str) -> Result<i64> {
        Ok(match self {
            Self::Postgres(connection) => sqlx::query_scalar(query).fetch_one(connection).await?,
            Self::MariaDb(connection) => sqlx::query_scalar(query).fetch_one(connection).await?,
            Self::Sqlite(connection) => sqlx::query_scalar(query).fetch_one(connection).await?,
            Self::Redis(connection) => {
                let mut script = redis::cmd("EVAL");
                script.arg(query).arg(0).query_async(connection).await?
            }
        })
    }

    /// Everything is written that earlier statements have left to be written later, and the tables are analysed: what
    /// is measured next pays for itself alone. Redis leaves nothing.
    pub async fn settle(&mut self) -> Result<()> {
        match self {
            Self::Postgres(connection) => {
                for statement in ["VACUUM ANALYZE", "CHECKPOINT"] {
                    sqlx::raw_sql(statement).execute(&mut *connection).await?;
                }
            }
            Self::MariaDb(connection) => {
                let names = "SELECT CAST(table_name AS CHAR) FROM information_schema.tables
                    WHERE table_schema = DATABASE()";
                let names: Vec<String> = sqlx::query_scalar(names)
                    .fetch_all(&mut *connection)
                    .await?;
                let analyse = AssertSqlSafe(format!("ANALYZE TABLE {}", names.join(", ")));
                sqlx::raw_sql(analyse).execute(&mut *connection).await?;
                let checkpoint = "SET GLOBAL innodb_log_checkpoint_now = 1";
                sqlx::raw_sql(checkpoint).execute(connection).await?;
            }
            Self::Sqlite(connection) => {
                for statement in ["ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)"] {
                    sqlx::raw_sql(statement).execute(&mut *connection).await?;
                }
            }
            Self::Redis(_) => {}
        }
        Ok(())
    }
}
