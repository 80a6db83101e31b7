//! Whether the tables stay as small as what is in them, while jobs come and go, are kept for a minute and deleted, many
//! leases are renewed, and names are taken and given back.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tasklock_runtime::Client;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::options::{Options, Tasks};
use crate::place::Place;
use crate::systems::tasklock::{Tasklock, Worker, builder, tasks};
use crate::systems::{System, Worker as _};
use crate::times;

const HELD: u32 = 1_000;
const SLOTS: usize = 16;
/// How often in a second some jobs are enqueued, and a name is taken.
const TURNS: u32 = 10;
const TTL: Duration = Duration::from_secs(30);
const TABLES: [&str; 3] = ["job", "heartbeat", "waiter"];
const SIZES: &str = "SELECT n_live_tup, n_dead_tup, (pg_table_size(relid) + pg_indexes_size(relid)) / 1024, autovacuum_count
    FROM pg_stat_user_tables WHERE relname = 'tasklock_' || $1";

/// Rows, dead rows, KiB with the indexes, and how often it was vacuumed.
type Sizes = (i64, i64, i64, i64);

pub async fn figures(options: &Options, place: &Place) -> Result<Value> {
    let options = Options {
        slots: Some(HELD as usize + SLOTS),
        ..options.clone()
    };
    let url = place.fresh().await?;
    Tasklock::install(&url).await?;
    let client = Tasklock::connect(&url, &options).await?.client;
    let mut connection = PgConnection::connect(&url).await?;
    let mut worker = Worker::of(builder(&url, &options, Tasks::Churning)).await?;
    worker.start().await?;
    client.enqueue_many(tasks::waiting::NAME, 0..HELD).await?;
    while times::runs() < u64::from(HELD) {
        sleep(Duration::from_millis(20)).await;
    }
    let mut churning = tokio::spawn(churn(client, options.jobs / TURNS));
    let mut samples: [Vec<Sizes>; 3] = Default::default();
    for _ in 0..options.minutes {
        tokio::select! {
            ended = &mut churning => ended??,
            () = sleep(Duration::from_secs(60)) => {}
        }
        for (table, samples) in TABLES.iter().zip(&mut samples) {
            let sizes = sqlx::query_as(SIZES).bind(table);
            samples.push(sizes.fetch_one(&mut connection).await?);
        }
    }
    churning.abort();
    worker.stop().await?;
    let mut figures = json!({ "runs": times::runs() });
    for (table, samples) in TABLES.iter().zip(samples) {
        let quarter = samples.len().div_ceil(4);
        let most = |part: &[Sizes], of: fn(&Sizes) -> i64| part.iter().map(of).max();
        let last = samples.last().context("it lasts for a minute")?;
        figures[format!("{table}_rows")] = last.0.into();
        figures[format!("{table}_dead_most")] = most(&samples, |sizes| sizes.1).into();
        for (name, part) in samples.chunks(quarter).enumerate() {
            let name = format!("{table}_kib_most_in_quarter_{}", name + 1);
            figures[name] = most(part, |sizes| sizes.2).into();
        }
        figures[format!("{table}_vacuums")] = last.3.into();
    }
    Ok(figures)
}

/// For ever, at an even pace.
async fn churn(client: Client, jobs: u32) -> Result<()> {
    let mut turns = interval(Duration::from_secs(1) / TURNS);
    turns.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let start = Instant::now();
    loop {
        turns.tick().await;
        client.enqueue_many(tasks::brief::NAME, 0..jobs).await?;
        let name = format!("name {}", start.elapsed().as_millis() % 16);
        let held = client.lease(name).ttl(TTL).try_acquire().await?;
        held.context("nobody else has it")?.release().await;
    }
}
