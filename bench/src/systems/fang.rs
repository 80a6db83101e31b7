//! fang, on Postgres and on SQLite: it only polls, here every 100 ms and not every 5 to 15 s.

use std::ops::Range;
use std::time::Duration;

use anyhow::{Result, anyhow};
use async_trait::async_trait;
use fang::asynk::async_queue::{AsyncQueue, AsyncQueueable};
use fang::asynk::async_worker_pool::AsyncWorkerPool;
use fang::{AsyncRunnable, Deserialize, FangError, RetentionMode, Serialize, SleepParams, typetag};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};
use tokio::task::JoinSet;

use super::{Purpose, System, schema};
use crate::options::Options;
use crate::store::is_sqlite;
use crate::times;

const POLL: Duration = Duration::from_millis(100);
const CALLERS: usize = 16;

#[derive(Serialize, Deserialize)]
#[serde(crate = "fang::serde")]
struct Job {
    number: u32,
}

#[typetag::serde]
#[async_trait]
impl AsyncRunnable for Job {
    async fn run(&self, _queue: &dyn AsyncQueueable) -> Result<(), FangError> {
        times::ran(self.number);
        Ok(())
    }
}

#[derive(Clone)]
pub struct Fang(AsyncQueue);

async fn queue(url: &str, connections: usize) -> Result<AsyncQueue> {
    let queue = AsyncQueue::builder().uri(url);
    let mut queue = queue.max_pool_size(u32::try_from(connections)?).build();
    let connected = queue.connect().await;
    connected.map_err(|error| anyhow!("{error}"))?;
    Ok(queue)
}

impl System for Fang {
    type Worker = Worker;

    async fn install(url: &str) -> Result<()> {
        if is_sqlite(url) {
            let options: SqliteConnectOptions = url.parse()?;
            let options = options
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal);
            let tables = schema::of("fang", "sqlite_migrations")?;
            let mut connection = SqliteConnection::connect_with(&options).await?;
            sqlx::raw_sql(AssertSqlSafe(tables))
                .execute(&mut connection)
                .await?;
            return Ok(connection.close().await?);
        }
        let tables = schema::of("fang", "postgres_migrations")?;
        let mut connection = PgConnection::connect(url).await?;
        sqlx::raw_sql(AssertSqlSafe(tables))
            .execute(&mut connection)
            .await?;
        Ok(())
    }

    async fn connect(url: &str, _options: &Options) -> Result<Self> {
        Ok(Self(queue(url, CALLERS).await?))
    }

    async fn enqueue(&self, number: u32) -> Result<()> {
        let inserted = self.0.insert_task(&Job { number }).await;
        inserted.map_err(|error| anyhow!("{error}"))?;
        Ok(())
    }

    /// There is no call for many: one by one, by callers at once.
    async fn enqueue_many(&self, numbers: Range<u32>) -> Result<()> {
        let mut callers = JoinSet::new();
        for caller in 0..CALLERS {
            let (system, numbers) = (self.clone(), numbers.clone());
            callers.spawn(async move {
                for number in numbers.skip(caller).step_by(CALLERS) {
                    system.enqueue(number).await?;
                }
                Ok::<(), anyhow::Error>(())
            });
        }
        while let Some(caller) = callers.join_next().await {
            caller??;
        }
        Ok(())
    }

    fn unended(&self) -> &'static str {
        "SELECT count(*) FROM (SELECT 1 FROM fang_tasks LIMIT 1) AS j"
    }

    async fn worker(url: &str, options: &Options, purpose: Purpose) -> Result<Worker> {
        let slots = options.slots.unwrap_or(16);
        let sleep = match purpose {
            Purpose::Idle => SleepParams::default(),
            _ => SleepParams::builder()
                .sleep_period(POLL)
                .max_sleep_period(POLL)
                .min_sleep_period(POLL)
                .sleep_step(Duration::ZERO)
                .build(),
        };
        let pool = AsyncWorkerPool::builder()
            .number_of_workers(u32::try_from(slots)?)
            .queue(queue(url, slots + 4).await?)
            .sleep_params(sleep)
            .retention_mode(RetentionMode::RemoveAll)
            .build();
        Ok(Worker(pool))
    }
}

pub struct Worker(AsyncWorkerPool<AsyncQueue>);

impl super::Worker for Worker {
    async fn start(&mut self) -> Result<()> {
        self.0.start().await;
        Ok(())
    }

    /// It has no stop, but that of its process.
    async fn stop(self) -> Result<()> {
        Ok(())
    }
}
