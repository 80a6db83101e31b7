//! Jobs a second that are enqueued: many in a call, one by one, and one by one by many callers.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::options::Options;
use crate::place::Place;
use crate::systems::System;
use crate::times::rate;

const CALLERS: u32 = 16;
/// Jobs of the one who is alone, and of each of the others.
const SINGLE: u32 = 1_000;
const EACH: u32 = 250;

pub async fn figures<S: System>(options: &Options, place: &Place) -> Result<Value> {
    let url = place.fresh().await?;
    S::install(&url).await?;
    let system = Arc::new(S::connect(&url, options).await?);
    let start = Instant::now();
    system.enqueue_many(0..options.jobs).await?;
    let batched = rate(options.jobs, start.elapsed());
    let start = Instant::now();
    for number in 0..SINGLE {
        system.enqueue(number).await?;
    }
    let single = rate(SINGLE, start.elapsed());
    let start = Instant::now();
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let system = Arc::clone(&system);
        callers.spawn(async move {
            for number in 0..EACH {
                system.enqueue(number).await?;
            }
            Ok::<(), anyhow::Error>(())
        });
    }
    while let Some(caller) = callers.join_next().await {
        caller??;
    }
    let at_once = rate(CALLERS * EACH, start.elapsed());
    Ok(json!({ "batched_per_s": batched, "single_per_s": single, "callers_per_s": at_once }))
}
