//! Eight processes on one database, against one.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::idle::{SETTLING, WINDOW};
use crate::options::{Options, Tasks};
use crate::place::{Counts, Look, Place, grown};
use crate::process::Other;
use crate::store::Store;
use crate::systems::System;
use crate::systems::tasklock::Tasklock;
use crate::times::rate;

const MANY: usize = 8;
const GROUPS: [(&str, Tasks, usize); 4] = [
    ("idle_of_1", Tasks::Hourly, 1),
    ("idle_of_8", Tasks::Hourly, MANY),
    ("ticking_of_1", Tasks::Ticking, 1),
    ("ticking_of_8", Tasks::Ticking, MANY),
];
const LONGEST: Duration = Duration::from_secs(120);

pub async fn figures(options: &Options, place: &Place) -> Result<Value> {
    let one = throughput(options, place, 1).await?;
    let many = throughput(options, place, MANY).await?;
    let mut figures = json!({
        "one_per_s": one,
        "eight_per_s": many,
        "ratio": (many / one * 1e3).round() / 1e3,
    });
    let url = options.url.as_deref().context("it has a URL")?;
    // Idle ones do not disturb each other: all at once, each group in a database of its own, if the server counts by databases.
    let at_once = match Store::of(url)?.counts_all() {
        true => 1,
        false => GROUPS.len(),
    };
    for groups in GROUPS.chunks(at_once) {
        idle(options, place, groups, &mut figures).await?;
    }
    Ok(figures)
}

async fn idle(
    options: &Options,
    place: &Place,
    groups: &[(&str, Tasks, usize)],
    figures: &mut Value,
) -> Result<()> {
    let mut fleets = Vec::new();
    for (figure, tasks, size) in groups {
        let url = place.fresh().await?;
        Tasklock::install(&url).await?;
        let fleet = fleet(options, &url, *tasks, *size).await?;
        fleets.push((figure, url, fleet, Counts::new()));
    }
    for (_, _, fleet, _) in &mut fleets {
        start(fleet).await?;
    }
    sleep(SETTLING).await;
    for (_, url, _, before) in &mut fleets {
        *before = place.counts(url).await?;
    }
    sleep(WINDOW).await;
    for (figure, url, fleet, before) in fleets {
        let after = place.counts(&url).await?;
        // What each place counts first: transactions, statements or scripts.
        let grown = grown(&before, &after, WINDOW.as_secs_f64());
        let (_, each) = grown.first().context("a server counts")?;
        figures[*figure] = ((each * 1e3).round() / 1e3).into();
        finish(fleet).await?;
    }
    Ok(())
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
