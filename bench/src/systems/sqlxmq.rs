//! sqlxmq: as its users have it; it has no other settings for speed than how many jobs run at once.

use std::error::Error;
use std::ops::Range;

use anyhow::Result;
use sqlx_08::Connection;
use sqlx_08::postgres::{PgConnection, PgPool, PgPoolOptions};
use sqlxmq::{CurrentJob, JobRegistry, JobRunnerHandle, JobRunnerOptions};

use super::{Purpose, System, schema};
use crate::options::Options;
use crate::times;

#[sqlxmq::job("job")]
async fn job(mut current: CurrentJob) -> Result<(), Box<dyn Error + Send + Sync + 'static>> {
    times::ran(current.json()?.unwrap_or_default());
    current.complete().await?;
    Ok(())
}

pub struct Sqlxmq(PgPool);

async fn pool(url: &str, connections: usize) -> Result<PgPool> {
    let pool = PgPoolOptions::new().max_connections(u32::try_from(connections)?);
    Ok(pool.connect(url).await?)
}

impl System for Sqlxmq {
    type Worker = Worker;

    async fn install(url: &str) -> Result<()> {
        let mut connection = PgConnection::connect(url).await?;
        let tables = schema::of("sqlxmq", "migrations")?;
        sqlx_08::raw_sql(&tables).execute(&mut connection).await?;
        Ok(())
    }

    async fn connect(url: &str, _options: &Options) -> Result<Self> {
        Ok(Self(pool(url, 16).await?))
    }

    async fn enqueue(&self, number: u32) -> Result<()> {
        job.builder().set_json(&number)?.spawn(&self.0).await?;
        Ok(())
    }

    /// There is no call for many: one by one, in one transaction.
    async fn enqueue_many(&self, numbers: Range<u32>) -> Result<()> {
        let mut tx = self.0.begin().await?;
        for number in numbers {
            job.builder().set_json(&number)?.spawn(&mut *tx).await?;
        }
        Ok(tx.commit().await?)
    }

    fn unended(&self) -> &'static str {
        "SELECT count(*) FROM (SELECT 1 FROM mq_msgs WHERE id <> uuid_nil() LIMIT 1) AS j"
    }

    async fn worker(url: &str, options: &Options, _purpose: Purpose) -> Result<Worker> {
        let slots = options.slots.unwrap_or(16);
        let pool = pool(url, 2 * slots + 4).await?;
        let mut runner = JobRegistry::new(&[job]).runner(&pool);
        runner.set_concurrency(slots, 2 * slots);
        Ok(Worker {
            runner,
            pool,
            running: None,
        })
    }
}

pub struct Worker {
    runner: JobRunnerOptions,
    pool: PgPool,
    running: Option<JobRunnerHandle>,
}

impl super::Worker for Worker {
    async fn start(&mut self) -> Result<()> {
        self.running = Some(self.runner.run().await?);
        Ok(())
    }

    async fn stop(self) -> Result<()> {
        if let Some(mut running) = self.running {
            running.stop().await;
        }
        super::closed(self.pool.close()).await;
        Ok(())
    }
}
