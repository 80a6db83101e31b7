//! tasklock as its users have it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tasklock_runtime::{Client, LeaseContext, Payload, Runtime, locked_task};

use crate::options::Options;
use crate::times;

/// Nothing is kept of it.
#[locked_task(ttl = "30s", keep = "none")]
async fn gone(_lease: LeaseContext, _number: Payload<u32>) {}

#[locked_task(ttl = "30s")]
async fn kept(_lease: LeaseContext, _number: Payload<u32>) {}

#[locked_task(ttl = "30s")]
async fn noted(_lease: LeaseContext, number: Payload<u32>) {
    times::started(number.0);
}

/// Callers at once.
const CALLERS: u32 = 16;
/// Jobs of those that are enqueued one by one.
const SINGLE: u32 = 2_000;
/// Leases of one caller.
const CYCLES: u32 = 300;

async fn database(options: &Options) -> Result<PgConnection> {
    let mut database = PgConnection::connect(&options.url).await?;
    let clear = "DO $$ DECLARE t text; BEGIN
        FOR t IN SELECT tablename FROM pg_tables WHERE tablename LIKE 'tasklock%' LOOP
            EXECUTE 'DROP TABLE ' || t || ' CASCADE';
        END LOOP; DROP SEQUENCE IF EXISTS tasklock_lease_fence; END $$";
    sqlx::raw_sql(clear).execute(&mut database).await?;
    // The tables are made by the first who comes.
    drop(
        Runtime::builder()
            .database_url(&options.url)
            .build()
            .await?,
    );
    Ok(database)
}

pub async fn throughput(options: &Options) -> Result<Value> {
    let mut database = database(options).await?;
    let client = Client::connect(&options.url).await?;
    let task = if options.keep { kept::NAME } else { gone::NAME };
    client.enqueue_many(task, 0..options.jobs).await?;
    sqlx::raw_sql("VACUUM ANALYZE")
        .execute(&mut database)
        .await?;
    let before = transactions(&mut database).await?;
    let start = Instant::now();
    let builder = Runtime::builder().database_url(&options.url);
    let builder = builder.concurrency(options.slots).handle_signals(false);
    let runtime = builder.build().await?;
    let stop = runtime.shutdown_handle();
    let running = tokio::spawn(runtime.run());
    let left = "SELECT count(*) FROM (SELECT FROM tasklock_job WHERE state IN ('ready', 'running') LIMIT 1) j";
    while sqlx::query_scalar::<_, i64>(left)
        .fetch_one(&mut database)
        .await?
        > 0
    {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let took = start.elapsed();
    let after = transactions(&mut database).await?;
    stop.shutdown();
    running.await??;
    Ok(json!({
        "jobs_per_s": (f64::from(options.jobs) / took.as_secs_f64()).round(),
        "transactions_per_job": (after - before) as f64 / f64::from(options.jobs),
    }))
}

/// What the server has committed; the looks of this program are among them.
async fn transactions(database: &mut PgConnection) -> Result<i64> {
    // It is told with a delay of a second by those who do it.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let committed = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()";
    Ok(sqlx::query_scalar(committed).fetch_one(database).await?)
}

pub async fn enqueue(options: &Options) -> Result<Value> {
    database(options).await?;
    let client = Client::connect(&options.url).await?;
    let start = Instant::now();
    client.enqueue_many(kept::NAME, 0..options.jobs).await?;
    let batched = f64::from(options.jobs) / start.elapsed().as_secs_f64();
    let start = Instant::now();
    for number in 0..SINGLE {
        kept::enqueue(&client, number).await?;
    }
    let single = f64::from(SINGLE) / start.elapsed().as_secs_f64();
    let start = Instant::now();
    let callers = (0..CALLERS).map(|_| {
        let client = client.clone();
        tokio::spawn(async move {
            for number in 0..SINGLE {
                kept::enqueue(&client, number).await?;
            }
            Ok::<(), tasklock_runtime::Error>(())
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await??;
    }
    let at_once = f64::from(CALLERS * SINGLE) / start.elapsed().as_secs_f64();
    Ok(json!({
        "batched_per_s": batched.round(),
        "single_per_s": single.round(),
        "callers_per_s": at_once.round(),
    }))
}

pub async fn latency(options: &Options) -> Result<Value> {
    database(options).await?;
    let builder = Runtime::builder().database_url(&options.url);
    let builder = builder.concurrency(options.slots).handle_signals(false);
    let runtime = builder.build().await?;
    let (client, stop) = (runtime.client(), runtime.shutdown_handle());
    let running = tokio::spawn(runtime.run());
    let mut all = Vec::new();
    for number in 0..times::SAMPLES {
        tokio::time::sleep(times::GAP).await;
        noted::enqueue(&client, number).await?;
        all.push(times::after(number, Instant::now()).await);
    }
    stop.shutdown();
    running.await??;
    Ok(times::figures(all))
}

pub async fn leases(options: &Options) -> Result<Value> {
    database(options).await?;
    let client = Client::connect(&options.url).await?;
    let start = Instant::now();
    cycles(&client, 0).await?;
    let alone = f64::from(CYCLES) / start.elapsed().as_secs_f64();
    let start = Instant::now();
    let callers = (1..=CALLERS).map(|caller| {
        let client = client.clone();
        tokio::spawn(async move { cycles(&client, caller).await })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await??;
    }
    let at_once = f64::from(CALLERS * CYCLES) / start.elapsed().as_secs_f64();
    Ok(json!({ "single_per_s": alone.round(), "callers_per_s": at_once.round() }))
}

async fn cycles(client: &Client, caller: u32) -> Result<()> {
    for _ in 0..CYCLES {
        let lease = client.lease(format!("name {caller}"));
        let held = lease.ttl(Duration::from_secs(30)).try_acquire().await?;
        held.context("nobody else has it")?.release().await;
    }
    Ok(())
}
