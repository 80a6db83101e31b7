//! On MariaDB: rows are locked in the order in which they are due, and those that another connection has are stepped over.

use std::ops::Range;

use anyhow::Result;
use sqlx::mysql::{MySqlPool, MySqlPoolOptions};
use sqlx::{AssertSqlSafe, Connection, Executor, MySqlConnection};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::super::{Purpose, System, Worker};
use super::{MANY, OWNER};
use crate::options::{Measurement, Options};
use crate::times;

const TABLE: &str = "CREATE TABLE raw_job (id bigint AUTO_INCREMENT PRIMARY KEY, state varchar(16) NOT NULL,
        due_at datetime(6), lock_owner varchar(64), lock_until datetime(6), fence bigint NOT NULL DEFAULT 0,
        payload longtext, KEY raw_job_due (state, due_at)) ENGINE = InnoDB";
const ENQUEUE: &str = "INSERT INTO raw_job (state, due_at, payload) VALUES ";
const ROW: &str = "('ready', utc_timestamp(6), ?)";
const LOCK: &str = "SELECT id, fence + 1 FROM raw_job FORCE INDEX (raw_job_due)
    WHERE state = 'ready' AND due_at <= utc_timestamp(6) ORDER BY due_at LIMIT ? FOR UPDATE SKIP LOCKED";
const CLAIM: &str = "UPDATE raw_job SET state = 'running', fence = fence + 1,
        lock_until = utc_timestamp(6) + INTERVAL 30 SECOND, lock_owner = ";
const DELETE: &str = "DELETE FROM raw_job WHERE lock_owner = ";
const UPDATE: &str = "UPDATE raw_job SET state = 'done', lock_owner = NULL, lock_until = NULL
    WHERE lock_owner = ";

/// There is nothing to listen to: a worker is told by its own process.
static WRITTEN: Notify = Notify::const_new();

pub struct MariaDb {
    pool: MySqlPool,
    /// Whether a worker is told.
    tell: bool,
}

async fn pool(url: &str, connections: usize) -> Result<MySqlPool> {
    let connections = u32::try_from(connections)?;
    let pool = MySqlPoolOptions::new()
        .min_connections(connections)
        .max_connections(connections)
        // For a claim locks what it reads, and nothing beside it.
        .after_connect(|connection, _| {
            Box::pin(async move {
                let level = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
                connection.execute(level).await?;
                Ok(())
            })
        });
    Ok(pool.connect(url).await?)
}

/// So many rows of values.
fn rows(count: usize) -> AssertSqlSafe<String> {
    AssertSqlSafe(format!("{ENQUEUE}{}", vec![ROW; count].join(", ")))
}

impl System for MariaDb {
    type Worker = Slots;

    async fn install(url: &str) -> Result<()> {
        let pool = pool(url, 1).await?;
        sqlx::raw_sql(TABLE).execute(&pool).await?;
        pool.close().await;
        Ok(())
    }

    async fn connect(url: &str, options: &Options) -> Result<Self> {
        Ok(Self {
            pool: pool(url, 16).await?,
            tell: options.measurement == Measurement::Latency,
        })
    }

    async fn enqueue(&self, number: u32) -> Result<()> {
        let insert = sqlx::query(rows(1)).bind(number.to_string());
        insert.execute(&self.pool).await?;
        if self.tell {
            WRITTEN.notify_one();
        }
        Ok(())
    }

    async fn enqueue_many(&self, numbers: Range<u32>) -> Result<()> {
        let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
        let mut tx = self.pool.begin().await?;
        for batch in numbers.chunks(MANY) {
            let mut insert = sqlx::query(rows(batch.len()));
            for number in batch {
                insert = insert.bind(number);
            }
            insert.execute(&mut *tx).await?;
        }
        Ok(tx.commit().await?)
    }

    fn unended(&self) -> &'static str {
        "SELECT count(*) FROM (SELECT 1 FROM raw_job WHERE state <> 'done' LIMIT 1) AS j"
    }

    async fn worker(url: &str, options: &Options, purpose: Purpose) -> Result<Slots> {
        let slots = options.slots.unwrap_or(16);
        Ok(Slots {
            pool: pool(url, slots).await?,
            slots,
            batch: options.batch,
            end: if options.keep { UPDATE } else { DELETE },
            is_told: purpose != Purpose::Throughput,
            running: JoinSet::new(),
        })
    }
}

/// Connections that claim and end, until nothing is left; or one that claims when it is told.
pub struct Slots {
    pool: MySqlPool,
    slots: usize,
    batch: u32,
    end: &'static str,
    is_told: bool,
    running: JoinSet<Result<()>>,
}

impl Worker for Slots {
    async fn start(&mut self) -> Result<()> {
        let (batch, end) = (self.batch, self.end);
        if self.is_told {
            let pool = self.pool.clone();
            self.running.spawn(async move {
                let mut connection = pool.acquire().await?;
                for number in 0.. {
                    WRITTEN.notified().await;
                    claim(&mut connection, OWNER, 1).await?;
                    times::ran(number);
                }
                Ok(())
            });
            return Ok(());
        }
        for number in 0..self.slots {
            let pool = self.pool.clone();
            self.running.spawn(async move {
                let owner = format!("{OWNER} {number}");
                let mut connection = pool.acquire().await?;
                loop {
                    let claims = claim(&mut connection, &owner, batch).await?;
                    if claims.is_empty() {
                        return Ok(());
                    }
                    // The ids again, beside the fences: a pair alone would not be looked up by the primary key.
                    let pairs = list(&claims, |(id, fence)| format!("({id},{fence})"));
                    let ids = ids(&claims);
                    let end = format!("{end}'{owner}' AND id IN {ids} AND (id, fence) IN {pairs}");
                    let end = sqlx::raw_sql(AssertSqlSafe(end));
                    end.execute(&mut *connection).await?;
                    (0..claims.len() as u32).for_each(times::ran);
                }
            });
        }
        Ok(())
    }

    async fn stop(mut self) -> Result<()> {
        // One that waits to be told does so for ever; others that have not ended by now have failed.
        self.running.abort_all();
        while let Some(ended) = self.running.join_next().await {
            if let Ok(ended) = ended {
                ended?;
            }
        }
        self.pool.close().await;
        Ok(())
    }
}

/// Ids and fences of the rows that are the owner's from now on.
async fn claim(
    connection: &mut MySqlConnection,
    owner: &str,
    batch: u32,
) -> Result<Vec<(i64, i64)>> {
    let mut tx = connection.begin().await?;
    let lock = sqlx::query_as(LOCK).bind(batch);
    let claims: Vec<(i64, i64)> = lock.fetch_all(&mut *tx).await?;
    if !claims.is_empty() {
        // As a text: to prepare a statement for one use takes two round trips more, and 40 ms, in which the server holds its
        // acknowledgement of the statement's closing back while the client waits for that.
        let claim = format!("{CLAIM}'{owner}' WHERE id IN {}", ids(&claims));
        let claim = sqlx::raw_sql(AssertSqlSafe(claim));
        claim.execute(&mut *tx).await?;
    }
    tx.commit().await?;
    Ok(claims)
}

fn ids(claims: &[(i64, i64)]) -> String {
    list(claims, |(id, _)| id.to_string())
}

fn list(claims: &[(i64, i64)], each: impl Fn(&(i64, i64)) -> String) -> String {
    let all: Vec<String> = claims.iter().map(each).collect();
    format!("({})", all.join(","))
}
