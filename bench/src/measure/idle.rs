//! What a worker costs that has nothing to do.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::options::Options;
use crate::place::{Place, grown};
use crate::process;
use crate::systems::{Purpose, System, Worker};

/// A connection tells the server within ten seconds what it has done.
pub const SETTLING: Duration = Duration::from_secs(15);
pub const WINDOW: Duration = Duration::from_secs(20);

pub async fn figures<S: System>(options: &Options, place: &Place) -> Result<Value> {
    let url = place.fresh().await?;
    S::install(&url).await?;
    let mut worker = S::worker(&url, options, Purpose::Idle).await?;
    worker.start().await?;
    sleep(SETTLING).await;
    let before = place.counts(&url).await?;
    let used = process::cpu();
    sleep(WINDOW).await;
    let used = process::cpu() - used;
    let after = place.counts(&url).await?;
    worker.stop().await?;
    let cpu = used.as_secs_f64() * 1e3 / WINDOW.as_secs_f64();
    let mut figures = json!({ "cpu_ms_per_s": (cpu * 1e3).round() / 1e3 });
    for (name, each) in grown(&before, &after, WINDOW.as_secs_f64()) {
        figures[format!("{name}_per_s")] = each.into();
    }
    Ok(figures)
}
