//! A plain connection to any of the databases, for the program's and the tests' own statements.

use std::str::FromStr;
use std::time::Duration;

use sqlx::mysql::{MySqlConnection, MySqlRow};
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Connection, Row, ValueRef};

use super::mirror::Mirror;

pub(super) const CLOCK_OF_POSTGRES: &str =
    "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
pub(super) const CLOCK_OF_MYSQL: &str =
    "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
pub(super) const CLOCK_OF_SQLITE: &str =
    "(CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000)";

/// One connection.
#[derive(Debug)]
pub enum Database {
    /// To Postgres.
    Postgres(PgConnection),
    /// To MariaDB.
    MySql(MySqlConnection),
    /// To a SQLite file.
    Sqlite(SqliteConnection),
    /// To Redis, of whose rows and log it makes tables that can be read.
    Redis(Box<Mirror>),
}

/// What a statement answers: each column as text, as the database writes it.
pub type Rows = Vec<Vec<Option<String>>>;

impl Database {
    /// Connects by this URL, as the runtime would.
    ///
    /// # Errors
    ///
    /// The URL cannot be read, or the database cannot be reached.
    pub async fn connect(url: &str) -> Result<Self, sqlx::Error> {
        if url.starts_with("sqlite:") {
            let options = SqliteConnectOptions::from_str(url)?
                .create_if_missing(true)
                .busy_timeout(Duration::from_secs(30));
            let connection = SqliteConnection::connect_with(&options).await?;
            Ok(Self::Sqlite(connection))
        } else if url.starts_with("mysql:") {
            Ok(Self::MySql(MySqlConnection::connect(url).await?))
        } else if url.starts_with("redis:") {
            Ok(Self::Redis(Box::new(Mirror::connect(url).await?)))
        } else {
            Ok(Self::Postgres(PgConnection::connect(url).await?))
        }
    }

    /// The store's clock as an expression, in microseconds since the Unix epoch.
    pub fn clock(&self) -> &'static str {
        match self {
            Self::Postgres(_) => CLOCK_OF_POSTGRES,
            Self::MySql(_) => CLOCK_OF_MYSQL,
            Self::Sqlite(_) | Self::Redis(_) => CLOCK_OF_SQLITE,
        }
    }

    /// Carries out statements; `{now}` in them is the store's clock.
    ///
    /// # Errors
    ///
    /// The database's.
    pub async fn run(&mut self, sql: &str) -> Result<Rows, sqlx::Error> {
        let sql = AssertSqlSafe(sql.replace("{now}", self.clock()));
        match self {
            Self::Postgres(connection) => {
                let rows = sqlx::raw_sql(sql).fetch_all(connection).await?;
                rows.iter().map(postgres_row).collect()
            }
            Self::MySql(connection) => {
                let rows = sqlx::raw_sql(sql).fetch_all(connection).await?;
                rows.iter().map(mysql_row).collect()
            }
            Self::Sqlite(connection) => {
                let rows = sqlx::raw_sql(sql).fetch_all(connection).await?;
                rows.iter().map(sqlite_row).collect()
            }
            Self::Redis(mirror) => {
                let rows = sqlx::raw_sql(sql).fetch_all(mirror.tables().await?).await?;
                rows.iter().map(sqlite_row).collect()
            }
        }
    }
}

/// Without parameters Postgres answers in its text format.
fn postgres_row(row: &PgRow) -> Result<Vec<Option<String>>, sqlx::Error> {
    (0..row.len())
        .map(|column| {
            let value = row.try_get_raw(column)?;
            if value.is_null() {
                return Ok(None);
            }
            let text = value.as_str().map_err(sqlx::Error::Decode)?;
            Ok(Some(text.to_owned()))
        })
        .collect()
}

/// So does MariaDB, whatever the column.
fn mysql_row(row: &MySqlRow) -> Result<Vec<Option<String>>, sqlx::Error> {
    (0..row.len())
        .map(|column| {
            let bytes: Option<Vec<u8>> = row.try_get_unchecked(column)?;
            Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
        })
        .collect()
}

fn sqlite_row(row: &SqliteRow) -> Result<Vec<Option<String>>, sqlx::Error> {
    (0..row.len())
        .map(|column| row.try_get_unchecked(column))
        .collect()
}
