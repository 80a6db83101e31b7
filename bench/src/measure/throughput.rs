//! Jobs a second, from a worker's start to the last end in the store.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::options::Options;
use crate::place::{Look, Place, grown};
use crate::process;
use crate::systems::{Purpose, System, Worker};
use crate::times;

/// A system that is not done by then has run as many a second as it has run.
const LONGEST: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(1);
/// The server is told of what a connection has done when that closes, or a second later.
const TOLD: Duration = Duration::from_millis(1_100);

pub async fn figures<S: System>(options: &Options, place: &Place) -> Result<Value> {
    let url = place.fresh().await?;
    S::install(&url).await?;
    let system = S::connect(&url, options).await?;
    system.enqueue_many(0..options.jobs).await?;
    let mut look = Look::at(&url).await?;
    look.settle().await?;
    let mut worker = S::worker(&url, options, Purpose::Throughput).await?;
    let before = place.counts(&url).await?;
    let used = process::cpu();
    let start = Instant::now();
    worker.start().await?;
    let all = u64::from(options.jobs);
    while times::runs() < all && start.elapsed() < LONGEST {
        sleep(LOOK).await;
    }
    // Only now is the store asked: what asks meanwhile takes time from those who work.
    while start.elapsed() < LONGEST && look.number(system.unended()).await? > 0 {
        sleep(LOOK).await;
    }
    let (took, used, runs) = (start.elapsed(), process::cpu() - used, times::runs());
    let complete = took < LONGEST;
    let jobs = if complete {
        options.jobs
    } else {
        u32::try_from(runs)?
    };
    // A worker that has not come to an end need not come to a stop.
    if complete {
        worker.stop().await?;
    }
    sleep(TOLD).await;
    let after = place.counts(&url).await?;
    let count = f64::from(jobs.max(1));
    let mut figures = json!({
        "jobs_per_s": times::rate(jobs, took),
        "complete": complete,
        "reruns": runs.saturating_sub(all),
        "client_cpu_us_per_job": (used.as_secs_f64() * 1e7 / count).round() / 10.0,
    });
    for (name, each) in grown(&before, &after, count) {
        figures[format!("{name}_per_job")] = ((each * 1e4).round() / 1e4).into();
    }
    Ok(figures)
}
