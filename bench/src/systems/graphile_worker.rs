//! graphile_worker: its queue in the process, which claims 2,000 jobs at a time, and ends that are written together.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use graphile_worker::{
    IntoTaskHandlerResult, JobSpec, LocalQueueConfig, RawJobSpec, TaskHandler, WorkerContext,
    WorkerOptions, WorkerUtils,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio::task::JoinHandle;

use super::{Purpose, System};
use crate::options::Options;
use crate::times;

const SCHEMA: &str = "graphile_worker";
/// The fastest of those that were tried: 100, 500, 1,000, 2,000.
const LOCAL_QUEUE: usize = 2_000;
const MANY: usize = 1_000;

#[derive(Serialize, Deserialize)]
struct Job {
    number: u32,
}

impl TaskHandler for Job {
    const IDENTIFIER: &'static str = "job";

    async fn run(self, _context: WorkerContext) -> impl IntoTaskHandlerResult {
        times::ran(self.number);
        Ok::<(), String>(())
    }
}

pub struct GraphileWorker(WorkerUtils);

async fn pool(url: &str, connections: usize) -> Result<PgPool> {
    let pool = PgPoolOptions::new().max_connections(u32::try_from(connections)?);
    Ok(pool.connect(url).await?)
}

async fn worker(pool: &PgPool, slots: usize, purpose: Purpose) -> Result<graphile_worker::Worker> {
    let mut options = WorkerOptions::default()
        .pg_pool(pool.clone())
        .schema(SCHEMA)
        .concurrency(slots)
        .listen_os_shutdown_signals(false)
        .define_job::<Job>();
    // Without work the queue in the process asks thousands of times a second.
    if purpose == Purpose::Throughput {
        options = options
            .local_queue(LocalQueueConfig::default().with_size(LOCAL_QUEUE))
            .complete_job_batch_delay(Duration::from_millis(1))
            .poll_interval(Duration::from_millis(10));
    }
    options.init().await.map_err(|error| anyhow!("{error}"))
}

impl System for GraphileWorker {
    type Worker = Worker;

    async fn install(url: &str) -> Result<()> {
        let pool = pool(url, 2).await?;
        // It makes the tables, and knows the task.
        worker(&pool, 1, Purpose::Idle).await?;
        pool.close().await;
        Ok(())
    }

    async fn connect(url: &str, _options: &Options) -> Result<Self> {
        Ok(Self(WorkerUtils::new(pool(url, 16).await?, SCHEMA)))
    }

    async fn enqueue(&self, number: u32) -> Result<()> {
        let added = self.0.add_job(Job { number }, JobSpec::default()).await;
        added.map_err(|error| anyhow!("{error}"))?;
        Ok(())
    }

    async fn enqueue_many(&self, numbers: Range<u32>) -> Result<()> {
        for batch in numbers.collect::<Vec<_>>().chunks(MANY) {
            let job = |number: &u32| RawJobSpec {
                identifier: Job::IDENTIFIER.into(),
                payload: json!({ "number": number }),
                spec: JobSpec::default(),
            };
            let jobs: Vec<RawJobSpec> = batch.iter().map(job).collect();
            let added = self.0.add_raw_jobs(&jobs).await;
            added.map_err(|error| anyhow!("{error}"))?;
        }
        Ok(())
    }

    fn unended(&self) -> &'static str {
        "SELECT count(*) FROM (SELECT 1 FROM graphile_worker._private_jobs LIMIT 1) AS j"
    }

    async fn worker(url: &str, options: &Options, purpose: Purpose) -> Result<Worker> {
        let slots = options.slots.unwrap_or(16);
        let pool = pool(url, slots + 4).await?;
        Ok(Worker {
            worker: Arc::new(worker(&pool, slots, purpose).await?),
            pool,
            running: None,
        })
    }
}

pub struct Worker {
    worker: Arc<graphile_worker::Worker>,
    pool: PgPool,
    running: Option<JoinHandle<Result<()>>>,
}

impl super::Worker for Worker {
    async fn start(&mut self) -> Result<()> {
        let worker = Arc::clone(&self.worker);
        let run = async move { worker.run().await.map_err(|error| anyhow!("{error}")) };
        self.running = Some(tokio::spawn(run));
        Ok(())
    }

    async fn stop(self) -> Result<()> {
        self.worker.request_shutdown();
        super::ended(self.running.context("it was started")?).await;
        super::closed(self.pool.close()).await;
        Ok(())
    }
}
