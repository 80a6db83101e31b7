//! A web application whose requests enqueue jobs inside their own transactions.
//!
//! ```text
//! cargo run -p tasklock-examples --example web_app
//! curl -X POST localhost:3000/orders -H 'content-type: application/json' -d '{"customer": "ada", "cents": 1250}'
//! curl localhost:3000/orders/1
//! curl localhost:3000/jobs
//! ```
//!
//! `POST /orders` writes an order, and enqueues `send_receipt` with `.within(&mut tx)`: both are there, or
//! neither. Try an order of no cents: the table refuses it after the job was enqueued, the transaction is
//! rolled back, and no receipt is sent. The handler marks its order in a transaction that also ends the job
//! (`complete_in`), so an order has its receipt exactly once, whatever crashes in between.
//!
//! This process serves requests and runs jobs; start it several times with `PORT=3001` and so on, and each job
//! runs in one of them. The file is `web_app.db`, or what `TASKLOCK_DATABASE_URL` names. With Postgres the pool
//! is a `PgPool`, transactions begin with `pool.begin()`, and parameters are `$1`.

use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;
use tasklock_examples::{database_url_or, show_logs};
use tasklock_runtime::{
    BoxError, Client, LeaseContext, Payload, Runtime, State, TaskResult, locked_task,
};

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS orders (
    id       INTEGER PRIMARY KEY,
    customer TEXT NOT NULL,
    cents    INTEGER NOT NULL CHECK (cents > 0),
    receipt  TEXT
)";

#[derive(Serialize, Deserialize)]
struct Order {
    customer: String,
    cents: i64,
}

/// Writes an order's receipt, exactly once.
#[locked_task(ttl = "30s", retries = 10)]
async fn send_receipt(
    lease: LeaseContext,
    order: Payload<i64>,
    pool: State<SqlitePool>,
) -> TaskResult {
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query("UPDATE orders SET receipt = 'paid, with thanks, ' || customer WHERE id = ?")
        .bind(*order)
        .execute(&mut *tx)
        .await?;
    lease.complete_in(tx).await?;
    println!("receipt of order {}", *order);
    Ok(())
}

#[derive(Clone)]
struct App {
    pool: SqlitePool,
    client: Client,
}

async fn create(Shared(app): Shared<App>, Json(order): Json<Order>) -> Result<String, Failure> {
    let mut tx = app.pool.begin_with("BEGIN IMMEDIATE").await?;
    let last: Option<i64> = sqlx::query_scalar("SELECT max(id) FROM orders")
        .fetch_one(&mut *tx)
        .await?;
    let id = last.unwrap_or(0) + 1;
    send_receipt::enqueue(&app.client, id)
        .unique(format!("order:{id}"))
        .within(&mut tx)
        .await?;
    sqlx::query("INSERT INTO orders (id, customer, cents) VALUES (?, ?, ?)")
        .bind(id)
        .bind(&order.customer)
        .bind(order.cents)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(format!("{id}\n"))
}

async fn show(Shared(app): Shared<App>, Path(id): Path<i64>) -> Result<String, Failure> {
    let receipt: Option<Option<String>> =
        sqlx::query_scalar("SELECT receipt FROM orders WHERE id = ?")
            .bind(id)
            .fetch_optional(&app.pool)
            .await?;
    Ok(match receipt {
        None => "no such order\n".to_owned(),
        Some(receipt) => format!("{}\n", receipt.as_deref().unwrap_or("no receipt yet")),
    })
}

async fn jobs(Shared(app): Shared<App>) -> Result<String, Failure> {
    let jobs = app.client.jobs().task(send_receipt::NAME).limit(20).await?;
    let line = |job: tasklock_runtime::Job| format!("{} {}\n", job.id, job.state);
    Ok(jobs.into_iter().map(line).collect())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    show_logs();
    let url = database_url_or("sqlite://web_app.db");
    let pool = SqlitePool::connect(&format!("{url}?mode=rwc")).await?;
    sqlx::query(TABLE).execute(&pool).await?;
    let runtime = Runtime::builder()
        .pool(pool.clone())
        .state(pool.clone())
        .build()
        .await?;
    let app = App {
        pool,
        client: runtime.client(),
    };
    let routes = Router::new()
        .route("/orders", post(create))
        .route("/orders/{id}", get(show))
        .route("/jobs", get(jobs))
        .with_state(app);
    let port = std::env::var("PORT").unwrap_or_else(|_| "3000".into());
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    println!("listening on {}", listener.local_addr()?);

    // The runtime hears Ctrl-C and SIGTERM, and drains; then the server ends, too.
    let serving = tokio::spawn(async move { axum::serve(listener, routes).await });
    let ran = runtime.run().await;
    serving.abort();
    Ok(ran?)
}

/// Any error is the caller's to see, in this example.
struct Failure(BoxError);

impl<E: Into<BoxError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl axum::response::IntoResponse for Failure {
    fn into_response(self) -> axum::response::Response {
        (StatusCode::UNPROCESSABLE_ENTITY, format!("{}\n", self.0)).into_response()
    }
}
