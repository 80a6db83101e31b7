//! apalis, on Postgres and on SQLite: 1,000 jobs are fetched at a time, and their ends are written together.

use std::ops::Range;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use apalis::prelude::*;
use apalis_postgres::PostgresStorage;
use apalis_sqlite::{SqlitePool, SqliteStorage};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use tokio::task::JoinHandle;

use super::{Purpose, System};
use crate::options::Options;
use crate::times;

const QUEUE: &str = "bench";
/// The fastest of those that were tried: 10, 50, 100, 500, 1,000, 5,000.
const BATCH: usize = 1_000;
const MANY: usize = 1_000;
/// Where nothing is announced, or it was missed.
const INTERVAL: Duration = Duration::from_secs(5);
/// What its examples have on SQLite.
const SQLITE_INTERVAL: Duration = Duration::from_millis(100);

async fn job(number: u32) -> Result<(), BoxDynError> {
    times::ran(number);
    Ok(())
}

pub struct Postgres(PgPool);

async fn pool(url: &str, connections: usize) -> Result<PgPool> {
    let pool = PgPoolOptions::new().max_connections(u32::try_from(connections)?);
    Ok(pool.connect(url).await?)
}

impl System for Postgres {
    type Worker = Worker;

    async fn install(url: &str) -> Result<()> {
        let pool = pool(url, 1).await?;
        PostgresStorage::setup(&pool).await?;
        pool.close().await;
        Ok(())
    }

    async fn connect(url: &str, _options: &Options) -> Result<Self> {
        Ok(Self(pool(url, 16).await?))
    }

    async fn enqueue(&self, number: u32) -> Result<()> {
        let pushed = self.storage().push(number).await;
        pushed.map_err(|error| anyhow!("{error}"))?;
        Ok(())
    }

    async fn enqueue_many(&self, numbers: Range<u32>) -> Result<()> {
        for batch in numbers.collect::<Vec<_>>().chunks(MANY) {
            let pushed = self.storage().push_bulk(batch.to_vec()).await;
            pushed.map_err(|error| anyhow!("{error}"))?;
        }
        Ok(())
    }

    fn unended(&self) -> &'static str {
        "SELECT count(*) FROM (SELECT 1 FROM apalis.jobs WHERE status <> 'Done' LIMIT 1) AS j"
    }

    async fn worker(url: &str, options: &Options, purpose: Purpose) -> Result<Worker> {
        let slots = options.slots.unwrap_or(16);
        let config = apalis_postgres::Config::default().queue(QUEUE);
        // A job that is fetched has its owner already.
        let config = match purpose {
            Purpose::Throughput => config.batch_size(BATCH).lock_tasks(false),
            _ => config,
        };
        let backend = PostgresStorage::<u32>::new(&pool(url, slots + 4).await?)
            .with_config(config)
            .with_pubsub()
            .poll_with_strategy(Strategy::new().interval(INTERVAL));
        let context = WorkerContext::new("bench");
        let worker = WorkerBuilder::new(&context).backend(backend);
        let worker = worker.concurrency(slots).build(job);
        Ok(Worker::of(context, async move { Ok(worker.run().await?) }))
    }
}

impl Postgres {
    fn storage(&self) -> PostgresStorage<u32> {
        PostgresStorage::new(&self.0).with_config(apalis_postgres::Config::default().queue(QUEUE))
    }
}

pub struct Sqlite(SqlitePool);

/// Commits wait for the disk, as all others' do: its own set-up switches that off, for one connection.
async fn file(url: &str, connections: u32) -> Result<SqlitePool> {
    let options: SqliteConnectOptions = url.parse()?;
    let options = options
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(10));
    let pool = SqlitePoolOptions::new().max_connections(connections);
    Ok(pool.connect_with(options).await?)
}

impl System for Sqlite {
    type Worker = Worker;

    async fn install(url: &str) -> Result<()> {
        let pool = file(url, 1).await?;
        SqliteStorage::migrations().run(&pool).await?;
        pool.close().await;
        Ok(())
    }

    async fn connect(url: &str, _options: &Options) -> Result<Self> {
        Ok(Self(file(url, 1).await?))
    }

    async fn enqueue(&self, number: u32) -> Result<()> {
        let pushed = self.storage().push(number).await;
        pushed.map_err(|error| anyhow!("{error}"))?;
        Ok(())
    }

    async fn enqueue_many(&self, numbers: Range<u32>) -> Result<()> {
        for batch in numbers.collect::<Vec<_>>().chunks(MANY) {
            let pushed = self.storage().push_bulk(batch.to_vec()).await;
            pushed.map_err(|error| anyhow!("{error}"))?;
        }
        Ok(())
    }

    fn unended(&self) -> &'static str {
        "SELECT count(*) FROM (SELECT 1 FROM Jobs WHERE status <> 'Done' LIMIT 1) AS j"
    }

    async fn worker(url: &str, options: &Options, purpose: Purpose) -> Result<Worker> {
        let config = apalis_sqlite::Config::default().queue(QUEUE);
        let config = match purpose {
            Purpose::Throughput => config.batch_size(BATCH).lock_tasks(false),
            _ => config,
        };
        let backend = SqliteStorage::<u32>::new(&file(url, 2).await?)
            .with_config(config)
            .poll_with_strategy(Strategy::new().interval(SQLITE_INTERVAL));
        let context = WorkerContext::new("bench");
        let worker = WorkerBuilder::new(&context).backend(backend);
        let worker = worker.concurrency(options.slots.unwrap_or(16)).build(job);
        Ok(Worker::of(context, async move { Ok(worker.run().await?) }))
    }
}

impl Sqlite {
    fn storage(&self) -> SqliteStorage<u32> {
        SqliteStorage::new(&self.0).with_config(apalis_sqlite::Config::default().queue(QUEUE))
    }
}

type Run = std::pin::Pin<Box<dyn Future<Output = Result<()>> + Send>>;

pub struct Worker {
    context: WorkerContext,
    run: Option<Run>,
    running: Option<JoinHandle<Result<()>>>,
}

impl Worker {
    fn of(context: WorkerContext, run: impl Future<Output = Result<()>> + Send + 'static) -> Self {
        Self {
            context,
            run: Some(Box::pin(run)),
            running: None,
        }
    }
}

impl super::Worker for Worker {
    async fn start(&mut self) -> Result<()> {
        self.running = Some(tokio::spawn(self.run.take().context("it is started once")?));
        Ok(())
    }

    async fn stop(self) -> Result<()> {
        // That it has stopped already is no mistake.
        let _ = self.context.stop();
        super::ended(self.running.context("it was started")?).await;
        Ok(())
    }
}
