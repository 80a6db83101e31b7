//! Leases and jobs in MariaDB or MySQL, beside the application's own tables: a job that comes with an order, and
//! a sum that is made on one replica at a time.
//!
//! ```text
//! TASKLOCK_DATABASE_URL=mysql://app:secret@localhost/shop cargo run -p tasklock-examples --example on_mysql
//! ```
//!
//! The database must be there, and the user must be allowed to create tables in it. At its start the program takes
//! one order, with `.within(&mut tx)`: the order and the job `send_receipt` are both there, or neither. The job marks
//! the order in a transaction that ends the job, too (`complete_in`), so an order has its receipt exactly once. The
//! scheduled task `sum_up` writes how many receipts there are; `lease.commit` commits that only while its lease
//! is held. Start it in several terminals: each start takes an order, any of them writes its receipt, and one at a time
//! sums up. Ctrl-C stops it.
//!
//! Transactions begin with `pool.begin()`, at any isolation level, and parameters are `?`. Nothing announces work to other
//! processes here: they find it when they look, each second unless `.poll_interval()` says otherwise.

use sqlx::MySqlPool;
use tasklock_examples::{database_url_or, show_logs};
use tasklock_runtime::{
    BoxError, Client, LeaseContext, Payload, Runtime, State, TaskResult, locked_task,
};

const TABLES: [&str; 2] = [
    "CREATE TABLE IF NOT EXISTS orders (
        id       BIGINT AUTO_INCREMENT PRIMARY KEY,
        customer VARCHAR(100) NOT NULL,
        cents    BIGINT NOT NULL CHECK (cents > 0),
        receipt  TEXT
    ) ENGINE = InnoDB",
    "CREATE TABLE IF NOT EXISTS total (
        day      DATE PRIMARY KEY,
        receipts BIGINT NOT NULL,
        fence    BIGINT NOT NULL
    ) ENGINE = InnoDB",
];

/// Writes an order's receipt, exactly once.
#[locked_task(retries = 10)]
async fn send_receipt(
    lease: LeaseContext,
    order: Payload<i64>,
    pool: State<MySqlPool>,
) -> TaskResult {
    let mut tx = pool.begin().await?;
    sqlx::query("UPDATE orders SET receipt = CONCAT('paid, with thanks, ', customer) WHERE id = ?")
        .bind(*order)
        .execute(&mut *tx)
        .await?;
    lease.complete_in(tx).await?;
    println!("receipt of order {}", *order);
    Ok(())
}

/// Writes how many receipts there are: every two seconds, on one replica at a time.
#[locked_task(ttl = "10s", every = "2s")]
async fn sum_up(lease: LeaseContext, pool: State<MySqlPool>) -> TaskResult {
    let mut tx = pool.begin().await?;
    let receipts: i64 = sqlx::query_scalar("SELECT COUNT(receipt) FROM orders")
        .fetch_one(&mut *tx)
        .await?;
    sqlx::query("REPLACE INTO total (day, receipts, fence) VALUES (UTC_DATE(), ?, ?)")
        .bind(receipts)
        .bind(lease.fence())
        .execute(&mut *tx)
        .await?;
    lease.commit(tx).await?; // refused if somebody else has the lease by now
    println!("receipts: {receipts}, fence {}", lease.fence());
    Ok(())
}

/// Takes an order: it and the job of its receipt are one.
async fn order(
    pool: &MySqlPool,
    client: &Client,
    customer: &str,
    cents: i64,
) -> Result<u64, BoxError> {
    let mut tx = pool.begin().await?;
    let id = sqlx::query("INSERT INTO orders (customer, cents) VALUES (?, ?)")
        .bind(customer)
        .bind(cents)
        .execute(&mut *tx)
        .await?
        .last_insert_id();
    send_receipt::enqueue(client, i64::try_from(id)?)
        .unique(format!("order:{id}"))
        .within(&mut tx)
        .await?;
    tx.commit().await?;
    Ok(id)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    show_logs();
    let url = database_url_or("");
    if url.is_empty() {
        return Err("set TASKLOCK_DATABASE_URL to mysql://user:password@host/database".into());
    }
    let pool = MySqlPool::connect(&url).await?;
    for table in TABLES {
        sqlx::query(table).execute(&pool).await?;
    }
    let runtime = Runtime::builder()
        .pool(pool.clone())
        .state(pool.clone())
        .build()
        .await?;
    let id = order(&pool, &runtime.client(), "ada", 1250).await?;
    println!("order {id} is taken");
    Ok(runtime.run().await?)
}
