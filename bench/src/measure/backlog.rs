//! The first jobs out of a great many, against as many alone.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::options::Options;
use crate::place::{Look, Place};
use crate::process;
use crate::systems::tasklock::Tasklock;
use crate::systems::{Purpose, System, Worker};
use crate::times;

const FIRST: u32 = 20_000;

pub async fn figures(options: &Options, place: &Place) -> Result<Value> {
    // The first of all finds a process whose code has never run.
    first(options, place, FIRST).await?;
    let (alone, _) = first(options, place, FIRST).await?;
    let (backlog, grown) = first(options, place, options.jobs.max(FIRST)).await?;
    Ok(json!({
        "alone_per_s": alone,
        "backlog_per_s": backlog,
        "ratio": (backlog / alone * 1e3).round() / 1e3,
        "grown_kib": grown / 1024,
    }))
}

/// How many of the first jobs were run a second, by the moments of their runs: nobody counts the ends among millions. And
/// by how much the worker has made the process grow.
async fn first(options: &Options, place: &Place, jobs: u32) -> Result<(f64, u64)> {
    let url = place.fresh().await?;
    Tasklock::install(&url).await?;
    let system = Tasklock::connect(&url, options).await?;
    system.enqueue_many(0..jobs).await?;
    Look::at(&url).await?.settle().await?;
    let mut worker = Tasklock::worker(&url, options, Purpose::Throughput).await?;
    let (memory, runs) = (process::resident()?, times::runs());
    let start = Instant::now();
    worker.start().await?;
    while times::runs() < runs + u64::from(FIRST) {
        sleep(Duration::from_millis(1)).await;
    }
    let rate = times::rate(FIRST, start.elapsed());
    let grown = process::resident()?.saturating_sub(memory);
    worker.stop().await?;
    Ok((rate, grown))
}
