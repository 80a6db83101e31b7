//! tasklock as its users have it.

mod scheduled;
pub mod tasks;

use std::ops::Range;
use std::time::Duration;

use anyhow::{Context, Result};
use tasklock_runtime::{Client, Error, Runtime, RuntimeBuilder, ShutdownHandle};
use tokio::task::JoinHandle;

use super::{Purpose, System};
use crate::options::{Options, Tasks};
use crate::store::{Store, is_sqlite};

/// Jobs of one call, whose payloads are in memory at once.
const MANY: usize = 20_000;

const UNENDED: &str = "SELECT count(*) FROM (SELECT 1 FROM tasklock_job
    WHERE state IN ('ready', 'running') AND due_at IS NOT NULL LIMIT 1) AS j";
const UNENDED_ON_REDIS: &str =
    "return redis.call('ZCARD', '{tasklock_}:all') - redis.call('ZCARD', '{tasklock_}:ended')";

pub struct Tasklock {
    pub client: Client,
    task: &'static str,
    unended: &'static str,
}

impl System for Tasklock {
    type Worker = Worker;

    async fn install(url: &str) -> Result<()> {
        // The tables are made by the first who comes.
        let runtime = Runtime::builder().database_url(creating(url));
        drop(runtime.only([tasks::kept::NAME]).build().await?);
        Ok(())
    }

    async fn connect(url: &str, options: &Options) -> Result<Self> {
        Ok(Self {
            client: Client::connect(url).await?,
            task: task(options),
            unended: unended(url)?,
        })
    }

    async fn enqueue(&self, number: u32) -> Result<()> {
        self.client.enqueue(self.task, &number).await?;
        Ok(())
    }

    async fn enqueue_many(&self, numbers: Range<u32>) -> Result<()> {
        for from in numbers.clone().step_by(MANY) {
            let batch = from..numbers.end.min(from + MANY as u32);
            self.client.enqueue_many(self.task, batch).await?;
        }
        Ok(())
    }

    fn unended(&self) -> &'static str {
        self.unended
    }

    async fn worker(url: &str, options: &Options, purpose: Purpose) -> Result<Worker> {
        let tasks = match purpose {
            Purpose::Idle => Tasks::Hourly,
            _ => options.tasks,
        };
        Worker::of(builder(url, options, tasks)).await
    }

    fn beside(worker: &Worker, options: &Options) -> Option<Self> {
        Some(Self {
            client: worker.runtime.as_ref()?.client(),
            task: task(options),
            unended: unended(options.url.as_deref()?).ok()?,
        })
    }
}

/// What is enqueued.
fn task(options: &Options) -> &'static str {
    match (options.tasks, options.keep) {
        (Tasks::Waiting, _) => tasks::waiting::NAME,
        (Tasks::Held, _) => tasks::held::NAME,
        (_, true) => tasks::kept::NAME,
        (_, false) => tasks::gone::NAME,
    }
}

/// A runtime of these tasks alone.
pub fn builder(url: &str, options: &Options, tasks: Tasks) -> RuntimeBuilder {
    let builder = Runtime::builder().database_url(url).handle_signals(false);
    let builder = match options.slots {
        Some(slots) => builder.concurrency(slots),
        None => builder,
    };
    match tasks {
        Tasks::Jobs => builder.only([tasks::gone::NAME, tasks::kept::NAME]),
        Tasks::Waiting => builder.only([tasks::waiting::NAME]),
        // What does not heed the wish to stop is given back at once, not after 15 seconds.
        Tasks::Held => builder
            .only([tasks::held::NAME])
            .shutdown_grace(Duration::from_millis(1))
            .handle_signals(true),
        Tasks::Hourly => builder.queues(["hourly"]),
        Tasks::Ticking => builder.queues(["hourly", "ticking"]),
        Tasks::Churning => builder.queues(["default", "ticking"]),
    }
}

fn unended(url: &str) -> Result<&'static str> {
    Ok(match Store::of(url)? {
        Store::Redis => UNENDED_ON_REDIS,
        Store::Postgres | Store::Sqlite | Store::MariaDb => UNENDED,
    })
}

fn creating(url: &str) -> String {
    if is_sqlite(url) {
        format!("{url}?mode=rwc")
    } else {
        url.to_owned()
    }
}

pub struct Worker {
    runtime: Option<Runtime>,
    stop: ShutdownHandle,
    running: Option<JoinHandle<Result<(), Error>>>,
}

impl Worker {
    pub async fn of(builder: RuntimeBuilder) -> Result<Self> {
        let runtime = builder.build().await?;
        Ok(Self {
            stop: runtime.shutdown_handle(),
            runtime: Some(runtime),
            running: None,
        })
    }

    /// Until it is stopped by a signal.
    pub async fn ended(&mut self) -> Result<()> {
        let running = self.running.as_mut().context("it was started")?;
        running.await??;
        self.running = None;
        Ok(())
    }
}

impl super::Worker for Worker {
    async fn start(&mut self) -> Result<()> {
        let runtime = self.runtime.take().context("it is started once")?;
        self.running = Some(tokio::spawn(runtime.run()));
        Ok(())
    }

    async fn stop(mut self) -> Result<()> {
        self.stop.shutdown();
        if self.running.is_some() {
            self.ended().await?;
        }
        Ok(())
    }
}
