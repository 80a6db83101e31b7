//! What many leases cost that one process holds.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::idle::SETTLING;
use crate::options::{Options, Tasks};
use crate::place::{Look, Place, grown};
use crate::process::{self, Other};
use crate::store::Store;
use crate::systems::tasklock::{Tasklock, Worker, builder};
use crate::systems::{System, Worker as _};
use crate::times;

/// Whole beats: what the server hears of the last one is as late as what it heard of the one before.
const BEAT: Duration = Duration::from_secs(10);
const BEATS: u32 = 3;
const RENEWED: &str =
    "SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'tasklock_heartbeat'";
const HOT: &str =
    "SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'tasklock_heartbeat'";

pub async fn figures(options: &Options, place: &Place) -> Result<Value> {
    let options = Options {
        slots: Some(options.jobs as usize),
        tasks: Tasks::Waiting,
        ..options.clone()
    };
    let url = place.fresh().await?;
    Tasklock::install(&url).await?;
    // Which updates changed no index, Postgres alone tells.
    let mut look = match Store::of(&url)? {
        Store::Postgres => Some(Look::at(&url).await?),
        _ => None,
    };
    let mut worker = Worker::of(builder(&url, &options, Tasks::Waiting)).await?;
    worker.start().await?;
    sleep(Duration::from_secs(2)).await;
    let empty = process::resident()?;
    // Another process enqueues: its memory is not that of the leases.
    let mut other = Other::enqueuer(&options, &url).await?;
    other.tell(&format!("many {}", options.jobs)).await?;
    other.hear("at").await?;
    other.finish().await?;
    while times::runs() < u64::from(options.jobs) {
        sleep(Duration::from_millis(20)).await;
    }
    // The first beat makes the rows that the later ones change; the server hears of it with the second one.
    sleep(SETTLING + BEAT).await;

    let (renewed, hot) = updates(&mut look).await?;
    let before = place.counts(&url).await?;
    let used = process::cpu();
    sleep(BEAT * BEATS).await;
    let used = process::cpu() - used;
    let after = place.counts(&url).await?;
    let full = process::resident()?;
    let (renewed_now, hot_now) = updates(&mut look).await?;
    let (renewed, hot) = (renewed_now - renewed, hot_now - hot);
    worker.stop().await?;
    let share = used.as_secs_f64() / (BEAT * BEATS).as_secs_f64();
    let bytes = full.saturating_sub(empty) / u64::from(options.jobs);
    let mut figures = json!({
        "cpu_percent": (share * 1e4).round() / 1e2,
        "bytes_per_lease": bytes,
    });
    for (name, each) in grown(&before, &after, f64::from(BEATS)) {
        figures[format!("{name}_per_beat")] = ((each * 10.0).round() / 10.0).into();
    }
    if look.is_some() {
        figures["renewals_per_beat"] = (renewed as f64 / f64::from(BEATS)).round().into();
        let ratio = hot as f64 / renewed.max(1) as f64;
        figures["hot_ratio"] = ((ratio * 1e3).round() / 1e3).into();
    }
    Ok(figures)
}

/// Of the side rows: all updates, and those that changed no index.
async fn updates(look: &mut Option<Look>) -> Result<(i64, i64)> {
    Ok(match look {
        Some(look) => (look.number(RENEWED).await?, look.number(HOT).await?),
        None => (0, 0),
    })
}
