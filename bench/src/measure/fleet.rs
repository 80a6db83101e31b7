//! Eight processes on one database, against one.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::idle::{SETTLING, WINDOW};
use crate::options::{Options, Tasks};
use crate::place::{Look, Place};
use crate::process::Other;
use crate::systems::System;
use crate::systems::tasklock::Tasklock;
use crate::times::rate;

const MANY: usize = 8;
const LONGEST: Duration = Duration::from_secs(120);

pub async fn figures(options: &Options, place: &Place) -> Result<Value> {
    let one = throughput(options, place, 1).await?;
    let many = throughput(options, place, MANY).await?;
    // Idle ones do not disturb each other: all at once, each group in a database of its own.
    let mut groups = Vec::new();
    for (figure, tasks, size) in [
        ("idle_of_1", Tasks::Hourly, 1),
        ("idle_of_8", Tasks::Hourly, MANY),
        ("ticking_of_1", Tasks::Ticking, 1),
        ("ticking_of_8", Tasks::Ticking, MANY),
    ] {
        let url = place.fresh().await?;
        Tasklock::install(&url).await?;
        let fleet = fleet(options, &url, tasks, size).await?;
        groups.push((figure, url, fleet, 0));
    }
    for (_, _, fleet, _) in &mut groups {
        start(fleet).await?;
    }
    sleep(SETTLING).await;
    for (_, url, _, before) in &mut groups {
        *before = place.transactions(url).await?.unwrap_or_default();
    }
    sleep(WINDOW).await;
    let mut figures = json!({
        "one_per_s": one,
        "eight_per_s": many,
        "ratio": (many / one * 1e3).round() / 1e3,
    });
    for (figure, url, fleet, before) in groups {
        let after = place.transactions(&url).await?.unwrap_or_default();
        let each = (after - before) as f64 / WINDOW.as_secs_f64();
        figures[figure] = ((each * 1e3).round() / 1e3).into();
        finish(fleet).await?;
    }
    Ok(figures)
}

/// From the start of the workers, which have their connections, to the last end in the store.
async fn throughput(options: &Options, place: &Place, size: usize) -> Result<f64> {
    let url = place.fresh().await?;
    Tasklock::install(&url).await?;
    let system = Tasklock::connect(&url, options).await?;
    system.enqueue_many(0..options.jobs).await?;
    let mut look = Look::at(&url).await?;
    look.settle().await?;
    let mut fleet = fleet(options, &url, Tasks::Jobs, size).await?;
    let begin = Instant::now();
    start(&mut fleet).await?;
    while look.number(system.unended()).await? > 0 {
        ensure!(begin.elapsed() < LONGEST, "jobs are left after {LONGEST:?}");
        sleep(Duration::from_millis(10)).await;
    }
    let rate = rate(options.jobs, begin.elapsed());
    finish(fleet).await?;
    Ok(rate)
}

async fn fleet(options: &Options, url: &str, tasks: Tasks, size: usize) -> Result<Vec<Other>> {
    let mut fleet = Vec::new();
    for _ in 0..size {
        fleet.push(Other::worker(options, url, tasks).await?);
    }
    Ok(fleet)
}

async fn start(fleet: &mut [Other]) -> Result<()> {
    for worker in fleet {
        worker.tell("start").await?;
    }
    Ok(())
}

async fn finish(fleet: Vec<Other>) -> Result<()> {
    for worker in fleet {
        worker.finish().await?;
    }
    Ok(())
}
