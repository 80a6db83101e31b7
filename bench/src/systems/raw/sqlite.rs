//! On SQLite: one connection claims and ends, for a file has one writer at a time.

use std::ops::Range;
use std::time::Duration;

use anyhow::Result;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use tokio::task::JoinHandle;

use super::super::{Purpose, System, Worker};
use super::{MANY, OWNER};
use crate::options::Options;
use crate::times;

const TABLE: &str =
    "CREATE TABLE raw_job (id INTEGER PRIMARY KEY, state TEXT NOT NULL, due_at INTEGER,
        lock_owner TEXT, lock_until INTEGER, fence INTEGER NOT NULL DEFAULT 0, payload TEXT);
    CREATE INDEX raw_job_due ON raw_job (due_at) WHERE state = 'ready'";
const ENQUEUE: &str = "INSERT INTO raw_job (state, due_at, payload)
    SELECT 'ready', unixepoch(), value FROM json_each(?1)";
const CLAIM: &str = "UPDATE raw_job SET state = 'running', lock_owner = ?1, fence = fence + 1,
        lock_until = unixepoch() + 30
    WHERE id IN (SELECT id FROM raw_job WHERE state = 'ready' AND due_at <= unixepoch() ORDER BY due_at LIMIT ?2)
    RETURNING id, fence";
const DELETE: &str = "DELETE FROM raw_job WHERE lock_owner = ?2 AND (id, fence) IN
    (SELECT value ->> 0, value ->> 1 FROM json_each(?1))";
const UPDATE: &str = "UPDATE raw_job SET state = 'done', lock_owner = NULL, lock_until = NULL
    WHERE lock_owner = ?2 AND (id, fence) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))";
/// It changes when another connection has written.
const VERSION: &str = "PRAGMA data_version";
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(1);

pub struct Sqlite(SqlitePool);

/// As durable as tasklock's.
async fn pool(url: &str) -> Result<SqlitePool> {
    let options: SqliteConnectOptions = url.parse()?;
    let options = options
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(10));
    let pool = SqlitePoolOptions::new().max_connections(1);
    Ok(pool.connect_with(options).await?)
}

fn numbers(numbers: &[u32]) -> String {
    serde_json::json!(numbers).to_string()
}

impl System for Sqlite {
    type Worker = Claimer;

    async fn install(url: &str) -> Result<()> {
        let pool = pool(url).await?;
        sqlx::raw_sql(TABLE).execute(&pool).await?;
        pool.close().await;
        Ok(())
    }

    async fn connect(url: &str, _options: &Options) -> Result<Self> {
        Ok(Self(pool(url).await?))
    }

    async fn enqueue(&self, number: u32) -> Result<()> {
        let insert = sqlx::query(ENQUEUE).bind(numbers(&[number]));
        insert.execute(&self.0).await?;
        Ok(())
    }

    async fn enqueue_many(&self, all: Range<u32>) -> Result<()> {
        let mut tx = self.0.begin().await?;
        for batch in all.collect::<Vec<_>>().chunks(MANY) {
            let insert = sqlx::query(ENQUEUE).bind(numbers(batch));
            insert.execute(&mut *tx).await?;
        }
        Ok(tx.commit().await?)
    }

    fn unended(&self) -> &'static str {
        "SELECT count(*) FROM (SELECT 1 FROM raw_job WHERE state <> 'done' LIMIT 1) AS j"
    }

    async fn worker(url: &str, options: &Options, purpose: Purpose) -> Result<Claimer> {
        Ok(Claimer {
            pool: pool(url).await?,
            batch: i64::from(options.batch),
            end: if options.keep { UPDATE } else { DELETE },
            watches: purpose != Purpose::Throughput,
            running: None,
        })
    }
}

/// Claims and ends until nothing is left; or looks whether something was written, and claims it.
pub struct Claimer {
    pool: SqlitePool,
    batch: i64,
    end: &'static str,
    watches: bool,
    running: Option<JoinHandle<Result<()>>>,
}

impl Worker for Claimer {
    async fn start(&mut self) -> Result<()> {
        let (pool, batch, end) = (self.pool.clone(), self.batch, self.end);
        self.running = Some(if self.watches {
            tokio::spawn(watch(pool))
        } else {
            tokio::spawn(run_all(pool, batch, end))
        });
        Ok(())
    }

    async fn stop(mut self) -> Result<()> {
        if let Some(running) = self.running.take() {
            running.abort();
            if let Ok(ended) = running.await {
                ended?;
            }
        }
        self.pool.close().await;
        Ok(())
    }
}

async fn run_all(pool: SqlitePool, batch: i64, end: &'static str) -> Result<()> {
    let mut connection = pool.acquire().await?;
    loop {
        let claim = sqlx::query_as::<_, (i64, i64)>(CLAIM)
            .bind(OWNER)
            .bind(batch);
        let claims = claim.fetch_all(&mut *connection).await?;
        if claims.is_empty() {
            return Ok(());
        }
        let rows = serde_json::json!(claims).to_string();
        let end = sqlx::query(end).bind(rows).bind(OWNER);
        end.execute(&mut *connection).await?;
        (0..claims.len() as u32).for_each(times::ran);
    }
}

async fn watch(pool: SqlitePool) -> Result<()> {
    let mut connection = pool.acquire().await?;
    let (mut seen, mut number) = (0, 0);
    loop {
        let version: i64 = sqlx::query_scalar(VERSION)
            .fetch_one(&mut *connection)
            .await?;
        if version != seen {
            seen = version;
            let claim = sqlx::query_as::<_, (i64, i64)>(CLAIM)
                .bind(OWNER)
                .bind(1_i64);
            for _ in claim.fetch_all(&mut *connection).await? {
                times::ran(number);
                number += 1;
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}
