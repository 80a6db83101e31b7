//! How long after an enqueue has returned its handler starts, in a worker that has nothing else to do.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::options::Options;
use crate::place::Place;
use crate::process::{Other, now};
use crate::systems::{Purpose, System, Worker};
use crate::times;

const SAMPLES: u32 = 300;
/// How long nothing happens in between.
const GAP: Duration = Duration::from_millis(15);
/// What it takes a worker to become idle.
const SETTLING: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

pub async fn figures<S: System>(options: &Options, place: &Place) -> Result<Value> {
    let url = place.fresh().await?;
    S::install(&url).await?;
    let mut other = match options.across {
        true => Some(Other::enqueuer(options, &url).await?),
        false => None,
    };
    let mut worker = S::worker(&url, options, Purpose::Latency).await?;
    let system = match S::beside(&worker, options) {
        Some(system) => system,
        None => S::connect(&url, options).await?,
    };
    times::note();
    worker.start().await?;
    sleep(SETTLING).await;
    let mut all = Vec::new();
    for number in 0..SAMPLES {
        sleep(GAP).await;
        let returned = match &mut other {
            Some(other) => {
                other.tell(&format!("one {number}")).await?;
                Duration::from_nanos(other.hear("at").await?.parse()?)
            }
            None => {
                system.enqueue(number).await?;
                now()
            }
        };
        let start = timeout(LONGEST, times::start_of(number)).await;
        ensure!(start.is_ok(), "job {number} was not run within {LONGEST:?}");
        // One that has started before the enqueuer had its answer has waited for nothing.
        all.extend(start.map(|start| start.saturating_sub(returned)));
    }
    worker.stop().await?;
    Ok(times::figures(all))
}
