//! Named leases, acquired and given back: of one caller, and of many with a name each.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tasklock_runtime::Client;
use tokio::task::JoinSet;

use crate::options::Options;
use crate::place::Place;
use crate::systems::System;
use crate::systems::raw::leases::{CYCLES, Leases};
use crate::systems::tasklock::Tasklock;
use crate::times::rate;

const CALLERS: u32 = 16;
const TTL: Duration = Duration::from_secs(30);

pub async fn tasklock(options: &Options, place: &Place) -> Result<Value> {
    let url = place.fresh().await?;
    Tasklock::install(&url).await?;
    let client = Tasklock::connect(&url, options).await?.client;
    cycles(move |caller| own(client.clone(), caller)).await
}

pub async fn raw<L: Leases>(place: &Place) -> Result<Value> {
    let leases = L::install(&place.fresh().await?, CALLERS).await?;
    cycles(move |caller| {
        let leases = leases.clone();
        async move { leases.cycles(caller).await }
    })
    .await
}

async fn cycles<F>(caller: impl Fn(u32) -> F) -> Result<Value>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let start = Instant::now();
    caller(0).await?;
    let alone = rate(CYCLES, start.elapsed());
    let start = Instant::now();
    let mut callers: JoinSet<Result<()>> = (1..=CALLERS).map(caller).collect();
    while let Some(caller) = callers.join_next().await {
        caller??;
    }
    let at_once = rate(CALLERS * CYCLES, start.elapsed());
    Ok(json!({ "single_per_s": alone, "callers_per_s": at_once }))
}

async fn own(client: Client, caller: u32) -> Result<()> {
    for _ in 0..CYCLES {
        let lease = client.lease(format!("name {caller}")).ttl(TTL);
        let held = lease.try_acquire().await?;
        held.context("nobody else has it")?.release().await;
    }
    Ok(())
}
