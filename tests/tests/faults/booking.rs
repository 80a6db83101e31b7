//! Jobs that are enqueued in a transaction of the application's, beside what else it writes.

use std::str::FromStr;

use sqlx::mysql::MySqlConnection;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection, Transaction};
use tasklock_runtime::{Client, EnqueueTransaction, Enqueued};

use crate::clerk::{Order, PATIENCE};

/// How it begins on Postgres; on MariaDB in other words.
pub(crate) const BEGIN: [&str; 3] = [
    "BEGIN ISOLATION LEVEL READ COMMITTED",
    "BEGIN ISOLATION LEVEL REPEATABLE READ",
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
];

/// In a transaction that writes something else as well, and does not always commit.
pub(crate) async fn in_transaction(
    client: &Client,
    url: &str,
    order: &Order,
    begin: &'static str,
    commits: bool,
) -> Option<Vec<Enqueued>> {
    if url.starts_with("sqlite:") {
        let options = SqliteConnectOptions::from_str(url)
            .ok()?
            .busy_timeout(PATIENCE);
        let mut connection = SqliteConnection::connect_with(&options).await.ok()?;
        let mut tx = connection.begin_with("BEGIN IMMEDIATE").await.ok()?;
        let answers = insert(client, &mut tx, order).await?;
        book(&mut *tx, order).await?;
        end(tx, commits).await.map(|()| answers)
    } else if url.starts_with("mysql:") {
        let mut connection = MySqlConnection::connect(url).await.ok()?;
        let level = begin.trim_start_matches("BEGIN");
        let begin = AssertSqlSafe(format!("SET TRANSACTION{level}; START TRANSACTION"));
        let mut tx = connection.begin_with(begin).await.ok()?;
        let answers = insert(client, &mut tx, order).await?;
        book(&mut *tx, order).await?;
        end(tx, commits).await.map(|()| answers)
    } else {
        let mut connection = PgConnection::connect(url).await.ok()?;
        let mut tx = connection.begin_with(begin).await.ok()?;
        let answers = insert(client, &mut tx, order).await?;
        book(&mut *tx, order).await?;
        end(tx, commits).await.map(|()| answers)
    }
}

async fn insert<T: EnqueueTransaction>(
    client: &Client,
    tx: &mut T,
    order: &Order,
) -> Option<Vec<Enqueued>> {
    let mut one = client.enqueue(&order.task, &order.numbers[0]);
    if let Some(key) = &order.key {
        one = one.unique(key);
    }
    if let Some(resources) = &order.resources {
        one = one.resource(&*resources[0]);
    }
    one.within(tx).await.ok().map(|answer| vec![answer])
}

async fn book<'c, E>(executor: E, order: &Order) -> Option<()>
where
    E: sqlx::Executor<'c>,
{
    let number = order.numbers[0];
    let statement = AssertSqlSafe(format!("INSERT INTO booking VALUES ({number})"));
    executor.execute(statement).await.ok().map(drop)
}

async fn end<DB: sqlx::Database>(tx: Transaction<'_, DB>, commits: bool) -> Option<()> {
    let ended = if commits {
        tx.commit().await
    } else {
        tx.rollback().await
    };
    ended.ok()
}
