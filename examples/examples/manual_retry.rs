//! A job's work, done again by hand: a request takes the same lease as the task's jobs do.
//!
//! ```text
//! cargo run -p tasklock-examples --example manual_retry
//! curl -X POST localhost:3000/invoices/42/job     # enqueues a job, which takes its time
//! sleep 1; curl -X POST localhost:3000/invoices/42/send    # 409: the job is at it
//! curl -X POST localhost:3000/invoices/42/send    # later: sends it once more
//! curl localhost:3000/invoices/42
//! ```
//!
//! The task says `resource = "invoice:{}"`, and the request takes `client.lease("invoice:42")`: whichever comes
//! first, the other does not send beside it, in this process or in any other. The request does not wait: where somebody
//! holds the invoice it answers 409. While it works, jobs of this invoice wait, and those of others do not.
//!
//! Both call one function, which commits under the lease that it is given: a process that was suspended in the midst of
//! it commits nothing once somebody else has the invoice.
//!
//! The file is `manual_retry.db`, or what `TASKLOCK_DATABASE_URL` names; several processes may work on it
//! (`PORT=3001` and so on).

use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::routing::{get, post};
use sqlx::SqlitePool;
use tasklock_examples::{database_url_or, show_logs};
use tasklock_runtime::{
    BoxError, Client, LeaseContext, Payload, Runtime, State, TaskResult, locked_task,
};

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS letters (invoice INTEGER NOT NULL, sent_by TEXT NOT NULL, fence INTEGER NOT NULL)";
/// A letter takes so long, for you to see who waits.
const PAGE: Duration = Duration::from_millis(500);

/// Sends an invoice.
#[locked_task(resource = "invoice:{}")]
async fn send_invoice(
    lease: LeaseContext,
    invoice: Payload<i64>,
    pool: State<SqlitePool>,
) -> TaskResult {
    send(&lease, &pool, *invoice, "a job").await
}

/// What the task does and the request, too, under whatever lease holds the invoice.
async fn send(lease: &LeaseContext, pool: &SqlitePool, invoice: i64, by: &str) -> TaskResult {
    // Of the invoice in both cases: a lease by hand has no second one.
    let fence = lease.resource_fence().unwrap_or(lease.fence());
    println!("invoice {invoice}: {by} begins, fence {fence}");
    for _page in 0..3 {
        lease.check()?;
        tokio::time::sleep(PAGE).await;
    }
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query("INSERT INTO letters (invoice, sent_by, fence) VALUES (?, ?, ?)")
        .bind(invoice)
        .bind(by)
        .bind(fence)
        .execute(&mut *tx)
        .await?;
    lease.commit(tx).await?;
    println!("invoice {invoice}: {by} ends");
    Ok(())
}

#[derive(Clone)]
struct App {
    pool: SqlitePool,
    client: Client,
}

async fn enqueue(Shared(app): Shared<App>, Path(invoice): Path<i64>) -> Result<String, Failure> {
    let job = send_invoice::enqueue(&app.client, invoice).await?;
    Ok(format!("job {}\n", job.id()))
}

/// By hand. Where the client of the request goes away, axum drops this future, and the guard with it: the invoice is
/// free at once.
async fn send_now(Shared(app): Shared<App>, Path(invoice): Path<i64>) -> Result<String, Failure> {
    let lease = app.client.lease(format!("invoice:{invoice}"));
    let Some(held) = lease.ttl(Duration::from_secs(10)).try_acquire().await? else {
        let busy = "somebody is sending it: try again later".to_owned();
        return Err(Failure(StatusCode::CONFLICT, busy));
    };
    send(&held, &app.pool, invoice, "a request").await?;
    held.release().await;
    Ok("sent\n".to_owned())
}

async fn letters(Shared(app): Shared<App>, Path(invoice): Path<i64>) -> Result<String, Failure> {
    let query =
        "SELECT sent_by || ', fence ' || fence FROM letters WHERE invoice = ? ORDER BY fence";
    let letters: Vec<String> = sqlx::query_scalar(query)
        .bind(invoice)
        .fetch_all(&app.pool)
        .await?;
    Ok(letters.iter().map(|letter| format!("{letter}\n")).collect())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    show_logs();
    let url = database_url_or("sqlite://manual_retry.db");
    let pool = SqlitePool::connect(&format!("{url}?mode=rwc")).await?;
    sqlx::query(TABLE).execute(&pool).await?;
    let runtime = Runtime::builder().pool(pool.clone()).state(pool.clone());
    let runtime = runtime.build().await?;
    let client = runtime.client();
    let routes = Router::new()
        .route("/invoices/{id}/job", post(enqueue))
        .route("/invoices/{id}/send", post(send_now))
        .route("/invoices/{id}", get(letters))
        .with_state(App { pool, client });
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
struct Failure(StatusCode, String);

impl<E: Into<BoxError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, error.into().to_string())
    }
}

impl axum::response::IntoResponse for Failure {
    fn into_response(self) -> axum::response::Response {
        (self.0, format!("{}\n", self.1)).into_response()
    }
}
