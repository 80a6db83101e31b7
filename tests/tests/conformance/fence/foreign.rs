//! A database that holds no leases: it has the fence table, and one for effects.

use std::str::FromStr as _;

use sqlx::mysql::MySql;
use sqlx::postgres::Postgres;
use sqlx::sqlite::{Sqlite, SqliteConnectOptions, SqliteJournalMode};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, Transaction};
use tasklock_runtime::store::Source;
use tasklock_runtime::{Dialect, FenceError, fence_table, fence_table_sql};

use crate::guard::MYSQL;
use crate::world::{Sql, World};

/// How transactions begin, on each database.
const POSTGRES: &[&str] = &[
    "BEGIN ISOLATION LEVEL READ COMMITTED",
    "BEGIN ISOLATION LEVEL REPEATABLE READ",
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
];
const SQLITE: &[&str] = &["BEGIN IMMEDIATE", "BEGIN"];

/// A connection; `None` where there is no SQL. No store was ever here.
pub(crate) async fn connect(world: &World) -> Option<Sql> {
    match world.source() {
        Source::Url { url, .. } if url.starts_with("sqlite") => {
            let options = SqliteConnectOptions::from_str(&url)
                .unwrap()
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal);
            Some(Sql::Sqlite(options.connect().await.unwrap()))
        }
        _ => world.sql().await,
    }
}

/// A connection to a database that has its tables.
pub(crate) async fn foreign(world: &World) -> Option<Sql> {
    let mut sql = connect(world).await?;
    let id = match sql {
        Sql::Sqlite(_) => "INTEGER",
        Sql::MySql(_) => "bigint AUTO_INCREMENT",
        Sql::Postgres(_) => "bigserial",
    };
    sql.execute(fence_table_sql(sql.dialect())).await;
    sql.execute(&format!(
        "CREATE TABLE effect (id {id} PRIMARY KEY, fence bigint, earlier bigint)"
    ))
    .await;
    Some(sql)
}

impl Sql {
    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::MySql(_) => Dialect::MariaDb,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// How its transactions may begin.
    pub(crate) fn levels(&self) -> &'static [&'static str] {
        match self {
            Self::Sqlite(_) => SQLITE,
            Self::MySql(_) => MYSQL,
            Self::Postgres(_) => POSTGRES,
        }
    }

    pub(crate) async fn begin(&mut self, level: &'static str) -> Result<Tx<'_>, sqlx::Error> {
        Ok(match self {
            Self::Sqlite(connection) => Tx::Sqlite(connection.begin_with(level).await?),
            Self::MySql(connection) => Tx::MySql(connection.begin_with(level).await?),
            Self::Postgres(connection) => Tx::Postgres(connection.begin_with(level).await?),
        })
    }

    /// One whole transaction of a holder: its fence, an effect, the commit. Answers how many effects there
    /// were before.
    pub(crate) async fn work(
        &mut self,
        level: &'static str,
        name: &str,
        fence: i64,
    ) -> Result<i64, FenceError> {
        let mut tx = self.begin(level).await.map_err(retry)?;
        tx.fence(name, fence).await?;
        let before = tx.effects().await.map_err(retry)?;
        tx.effect(fence, before).await.map_err(retry)?;
        tx.commit().await.map_err(retry)?;
        Ok(before)
    }

    /// [`work`](Self::work), again until it is done or refused.
    pub(crate) async fn persist(
        &mut self,
        level: &'static str,
        name: &str,
        fence: i64,
    ) -> Result<i64, FenceError> {
        loop {
            match self.work(level, name, fence).await {
                Err(FenceError::Retry(_)) => tokio::task::yield_now().await,
                ended => return ended,
            }
        }
    }

    /// The names with their fences, and the effects' fences in their order.
    pub(crate) async fn state(&mut self) -> String {
        let (list, text) = match self {
            Self::Sqlite(_) => ("group_concat", "TEXT"),
            Self::MySql(_) => return self.state_of_mysql().await,
            Self::Postgres(_) => ("string_agg", "text"),
        };
        self.text(&format!(
            "SELECT concat(
                (SELECT {list}(concat(name, '=', fence), ' ')
                 FROM (SELECT * FROM tasklock_fence ORDER BY name) AS f), ': ',
                (SELECT {list}(CAST(fence AS {text}), ' ')
                 FROM (SELECT * FROM effect ORDER BY id) AS e))"
        ))
        .await
    }
}

impl Sql {
    async fn state_of_mysql(&mut self) -> String {
        self.text(
            "SELECT CONCAT(
                COALESCE((SELECT GROUP_CONCAT(CONCAT(CONVERT(name USING utf8mb4), '=', fence) ORDER BY name SEPARATOR ' ') FROM tasklock_fence), ''),
                ': ', COALESCE((SELECT GROUP_CONCAT(fence ORDER BY id SEPARATOR ' ') FROM effect), ''))",
        )
        .await
    }
}

/// What a test's own statement says of a conflict; any other error is the test's.
#[track_caller]
fn retry(error: sqlx::Error) -> FenceError {
    let code = error.as_database_error().and_then(|error| error.code());
    // Serialization, deadlock; busy, busy snapshot.
    let conflict = matches!(
        code.as_deref(),
        Some("40001" | "40P01" | "5" | "517" | "HY000")
    );
    assert!(conflict, "{error}");
    FenceError::Retry(error.to_string())
}

/// An open transaction; dropped, it is rolled back.
pub(crate) enum Tx<'c> {
    Sqlite(Transaction<'c, Sqlite>),
    MySql(Transaction<'c, MySql>),
    Postgres(Transaction<'c, Postgres>),
}

impl Tx<'_> {
    pub(crate) async fn fence(&mut self, name: &str, fence: i64) -> Result<(), FenceError> {
        match self {
            Self::Sqlite(tx) => fence_table(tx, name, fence).await,
            Self::MySql(tx) => fence_table(tx, name, fence).await,
            Self::Postgres(tx) => fence_table(tx, name, fence).await,
        }
    }

    pub(crate) async fn effects(&mut self) -> Result<i64, sqlx::Error> {
        let count = "SELECT count(*) FROM effect";
        match self {
            Self::Sqlite(tx) => sqlx::query_scalar(count).fetch_one(&mut **tx).await,
            Self::MySql(tx) => sqlx::query_scalar(count).fetch_one(&mut **tx).await,
            Self::Postgres(tx) => sqlx::query_scalar(count).fetch_one(&mut **tx).await,
        }
    }

    pub(crate) async fn effect(&mut self, fence: i64, before: i64) -> Result<(), sqlx::Error> {
        let insert = format!("INSERT INTO effect (fence, earlier) VALUES ({fence}, {before})");
        let insert = AssertSqlSafe(insert);
        match self {
            Self::Sqlite(tx) => tx.execute(insert).await.map(drop),
            Self::MySql(tx) => tx.execute(insert).await.map(drop),
            Self::Postgres(tx) => tx.execute(insert).await.map(drop),
        }
    }

    pub(crate) async fn commit(self) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(tx) => tx.commit().await,
            Self::MySql(tx) => tx.commit().await,
            Self::Postgres(tx) => tx.commit().await,
        }
    }

    pub(crate) async fn roll_back(self) {
        match self {
            Self::Sqlite(tx) => tx.rollback().await,
            Self::MySql(tx) => tx.rollback().await,
            Self::Postgres(tx) => tx.rollback().await,
        }
        .unwrap();
    }
}
