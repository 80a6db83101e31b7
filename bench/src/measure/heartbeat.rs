//! What many leases cost that one process holds.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::idle::SETTLING;
use crate::options::{Options, Tasks};
use crate::place::{Look, Place};
use crate::process::{self, Other};
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
    let mut look = Look::at(&url).await?;
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

    let (renewed, hot) = (look.number(RENEWED).await?, look.number(HOT).await?);
    let before = place.transactions(&url).await?.unwrap_or_default();
    let used = process::cpu();
    sleep(BEAT * BEATS).await;
    let used = process::cpu() - used;
    let after = place.transactions(&url).await?.unwrap_or_default();
    let full = process::resident()?;
    let (renewed, hot) = (
        look.number(RENEWED).await? - renewed,
        look.number(HOT).await? - hot,
    );
    worker.stop().await?;
    let share = used.as_secs_f64() / (BEAT * BEATS).as_secs_f64();
    let per_beat = (after - before) as f64 / f64::from(BEATS);
    let bytes = full.saturating_sub(empty) / u64::from(options.jobs);
    Ok(json!({
        "cpu_percent": (share * 1e4).round() / 1e2,
        "transactions_per_beat": (per_beat * 10.0).round() / 10.0,
        "renewals_per_beat": (renewed as f64 / f64::from(BEATS)).round(),
        "hot_ratio": (hot as f64 / renewed.max(1) as f64 * 1e3).round() / 1e3,
        "bytes_per_lease": bytes,
    }))
}
