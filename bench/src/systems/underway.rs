//! underway: looks every 10 ms where many jobs wait, for it starts one more loop at each look.

use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context, Result};
use jiff::ToSpan;
use sqlx_08::postgres::{PgPool, PgPoolOptions};
use sqlx_08::{Postgres, Transaction};
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};
use underway::{Queue, Task};

use super::{Purpose, System};
use crate::options::Options;
use crate::times;

const MANY: usize = 1_000;

#[derive(Clone)]
struct Job;

impl Task for Job {
    type Input = u32;
    type Output = ();

    async fn execute(
        &self,
        _tx: Transaction<'_, Postgres>,
        number: u32,
    ) -> underway::task::Result<()> {
        times::ran(number);
        Ok(())
    }
}

pub struct Underway {
    pool: PgPool,
    queue: Queue<Job>,
}

async fn open(url: &str, connections: usize) -> Result<Underway> {
    let pool = PgPoolOptions::new().max_connections(u32::try_from(connections)?);
    let pool = pool.connect(url).await?;
    let queue = Queue::builder().name("bench").pool(pool.clone());
    Ok(Underway {
        queue: queue.build().await?,
        pool,
    })
}

impl System for Underway {
    type Worker = Worker;

    async fn install(url: &str) -> Result<()> {
        let pool = PgPool::connect(url).await?;
        let migrated = pool.clone();
        // Its future stays on one thread.
        spawn_blocking(move || Handle::current().block_on(underway::run_migrations(&migrated)))
            .await??;
        pool.close().await;
        Ok(())
    }

    async fn connect(url: &str, _options: &Options) -> Result<Self> {
        open(url, 16).await
    }

    async fn enqueue(&self, number: u32) -> Result<()> {
        self.queue.enqueue(&self.pool, &Job, &number).await?;
        Ok(())
    }

    async fn enqueue_many(&self, numbers: Range<u32>) -> Result<()> {
        for batch in numbers.collect::<Vec<_>>().chunks(MANY) {
            self.queue.enqueue_multi(&self.pool, &Job, batch).await?;
        }
        Ok(())
    }

    fn unended(&self) -> &'static str {
        "SELECT count(*) FROM (SELECT 1 FROM underway.task WHERE state <> 'succeeded' LIMIT 1) AS j"
    }

    async fn worker(url: &str, options: &Options, purpose: Purpose) -> Result<Worker> {
        let slots = options.slots.unwrap_or(16);
        let Underway { pool, queue } = open(url, 2 * slots + 6).await?;
        let mut worker = underway::Worker::new(Arc::new(queue), Job);
        worker.set_concurrency_limit(slots);
        Ok(Worker {
            worker,
            purpose,
            pool,
            running: None,
        })
    }
}

pub struct Worker {
    worker: underway::Worker<Job>,
    purpose: Purpose,
    pool: PgPool,
    running: Option<JoinHandle<Result<()>>>,
}

impl super::Worker for Worker {
    async fn start(&mut self) -> Result<()> {
        let (worker, purpose) = (self.worker.clone(), self.purpose);
        self.running = Some(tokio::spawn(async move {
            match purpose {
                Purpose::Throughput => worker.run_every(10.milliseconds()).await?,
                _ => worker.run().await?,
            }
            Ok(())
        }));
        Ok(())
    }

    async fn stop(self) -> Result<()> {
        self.worker.shutdown();
        super::ended(self.running.context("it was started")?).await;
        super::closed(self.pool.close()).await;
        Ok(())
    }
}
