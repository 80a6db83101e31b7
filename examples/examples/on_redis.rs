//! Leases in Redis, and what is written elsewhere kept safe by their fences.
//!
//! ```text
//! redis-server &
//! cargo run -p tasklock-examples --example on_redis
//! TASKLOCK_DATABASE_URL=redis://:secret@host/2 cargo run -p tasklock-examples --example on_redis
//! ```
//!
//! The leases are in Redis, under keys that begin with `{on_redis_}`. The ledger is a SQLite file in a temporary folder: another
//! database, to which Redis can promise nothing. So each booking registers its fence there, first in its transaction.
//!
//! 1. Three bookings are enqueued and made.
//! 2. Somebody takes the lease of an account by hand, and is so slow that somebody else has it by then (here they give it
//!    back; after a failover of Redis to a replica that lags behind, both may think that they have it). The later one
//!    books. The earlier one comes with its smaller fence, and is refused.

use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::sqlite::SqliteConnectOptions;
use tasklock_examples::{database_url_or, show_logs};
use tasklock_runtime::{
    BoxError, Client, Dialect, FenceError, LeaseContext, Payload, Runtime, State, TaskResult,
    fence_table, fence_table_sql, locked_task,
};

/// Books an amount, under the lease of its job.
#[locked_task]
async fn book(lease: LeaseContext, amount: Payload<i64>, ledger: State<SqlitePool>) -> TaskResult {
    lease.check()?;
    write(&ledger, lease.fence_name(), lease.fence(), *amount).await?;
    println!("booked {}", *amount);
    Ok(())
}

/// No transaction commits here whose fence is smaller than one that was registered under its name.
async fn write(ledger: &SqlitePool, name: &str, fence: i64, amount: i64) -> Result<(), BoxError> {
    let mut tx = ledger.begin_with("BEGIN IMMEDIATE").await?;
    fence_table(&mut tx, name, fence).await?;
    sqlx::query("INSERT INTO bookings (amount) VALUES (?)")
        .bind(amount)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    show_logs();
    let folder = tempfile::tempdir()?;
    let file = SqliteConnectOptions::new()
        .filename(folder.path().join("ledger.db"))
        .create_if_missing(true);
    let ledger = SqlitePool::connect_with(file).await?;
    for sql in [
        fence_table_sql(Dialect::Sqlite),
        "CREATE TABLE bookings (amount INTEGER)",
    ] {
        sqlx::raw_sql(sql).execute(&ledger).await?;
    }
    let runtime = Runtime::builder()
        .database_url(database_url_or("redis://127.0.0.1"))
        .table_prefix("on_redis_")
        .state(ledger.clone())
        .build()
        .await?;
    let (client, shutdown) = (runtime.client(), runtime.shutdown_handle());
    let running = tokio::spawn(runtime.run());

    book::enqueue_many(&client, [100, 20, 3]).await?;
    while sum(&ledger).await? < 123 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    two_holders(&client, &ledger).await?;
    println!("in the ledger: {}", sum(&ledger).await?);
    shutdown.shutdown();
    running.await??;
    Ok(())
}

async fn two_holders(client: &Client, ledger: &SqlitePool) -> Result<(), BoxError> {
    let hold = async || {
        let guard = client.lease("account:7").try_acquire().await?;
        Ok::<_, BoxError>(guard.ok_or("nobody else is here")?)
    };
    let slow = hold().await?;
    let (name, old) = (slow.fence_name().to_owned(), slow.fence());
    slow.release().await;
    let quick = hold().await?;
    assert!(quick.fence() > old);
    write(ledger, &name, quick.fence(), 4_000).await?;
    match write(ledger, &name, old, 50_000).await {
        Err(error) if is_stale(&error) => println!("refused: a smaller fence"),
        other => panic!("the earlier holder's booking: {other:?}"),
    }
    quick.release().await;
    Ok(())
}

fn is_stale(error: &BoxError) -> bool {
    let fence = error.downcast_ref::<FenceError>();
    matches!(fence, Some(FenceError::Stale { .. }))
}

async fn sum(ledger: &SqlitePool) -> Result<i64, BoxError> {
    let sum = "SELECT coalesce(sum(amount), 0) FROM bookings";
    Ok(sqlx::query_scalar(sum).fetch_one(ledger).await?)
}
