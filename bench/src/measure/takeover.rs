//! How long a job is nobody's: after its holder was killed, and after it was stopped.

use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::options::{Options, Tasks};
use crate::place::{Look, Place};
use crate::process::{Other, now};
use crate::store::Store;
use crate::systems::System;
use crate::systems::tasklock::Tasklock;
use crate::times::millis;

/// Of the task's lease.
const TTL: Duration = Duration::from_secs(5);
const TIMES: u32 = 3;
/// The expiry that the store knows, in microseconds since 1970.
const EXPIRY: &str =
    "SELECT CAST(extract(epoch FROM max(greatest(j.lock_until, h.lock_until))) * 1e6 AS bigint)
    FROM tasklock_job j LEFT JOIN tasklock_heartbeat h ON h.job_id = j.id AND h.fence = j.fence
    WHERE j.state = 'running'";
const EXPIRY_ON_MARIADB: &str = "SELECT max(greatest(j.lock_until, coalesce(h.lock_until, 0)))
    FROM tasklock_job j LEFT JOIN tasklock_heartbeat h ON h.job_id = j.id AND h.fence = j.fence
    WHERE j.state = 'running'";
const EXPIRY_ON_SQLITE: &str = "SELECT max(lock_until) FROM tasklock_job WHERE state = 'running'";
const EXPIRY_ON_REDIS: &str = "local most = 0
    for _, set in ipairs(redis.call('KEYS', '{tasklock_}:running:*')) do
        most = math.max(most, redis.call('ZRANGE', set, -1, -1, 'WITHSCORES')[2])
    end
    return most";

pub async fn figures(options: &Options, place: &Place) -> Result<Value> {
    let options = Options {
        tasks: Tasks::Held,
        ..options.clone()
    };
    let url = place.fresh().await?;
    Tasklock::install(&url).await?;
    let mut look = Look::at(&url).await?;
    let expiry = match Store::of(&url)? {
        Store::Postgres => EXPIRY,
        Store::MariaDb => EXPIRY_ON_MARIADB,
        Store::Sqlite => EXPIRY_ON_SQLITE,
        Store::Redis => EXPIRY_ON_REDIS,
    };
    let mut holder = waiter(&options, &url).await?;
    let system = Tasklock::connect(&url, &options).await?;
    system.enqueue(0).await?;
    start(&mut holder).await?;
    let (mut killed, mut late, mut stopped) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..2 * TIMES {
        let mut next = waiter(&options, &url).await?;
        // At different moments between two heartbeats.
        sleep(Duration::from_millis(1_500 + 400 * u64::from(number))).await;
        let signal = [Signal::KILL, Signal::TERM][number as usize % 2];
        let gone = now();
        holder.signal(signal)?;
        if signal == Signal::KILL {
            let expiry = Duration::from_micros(u64::try_from(look.number(expiry).await?)?);
            let (start, today) = start(&mut next).await?;
            killed.push(millis(start - gone));
            late.push(millis(today.saturating_sub(expiry)));
        } else {
            let (start, _) = start(&mut next).await?;
            stopped.push(millis(start.saturating_sub(gone)));
        }
        holder.finish().await?;
        holder = next;
    }
    holder.signal(Signal::TERM)?;
    holder.finish().await?;
    let most = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
    Ok(json!({
        "ttl_ms": TTL.as_millis() as u64,
        "killed_ms": most(&killed),
        "over_ttl_ms": ((most(&killed) - millis(TTL)) * 1e3).round() / 1e3,
        "after_expiry_ms": most(&late),
        "stopped_ms": most(&stopped),
    }))
}

/// A worker that looks for work, and finds none while another one has the job.
async fn waiter(options: &Options, url: &str) -> Result<Other> {
    let mut waiter = Other::worker(options, url, Tasks::Held).await?;
    waiter.tell("start").await?;
    Ok(waiter)
}

/// When the handler has started there, by the clock of the machine and by the calendar.
async fn start(worker: &mut Other) -> Result<(Duration, Duration)> {
    let started = worker.hear("started").await?;
    let (nanos, micros) = started.split_once(' ').context("two moments")?;
    Ok((
        Duration::from_nanos(nanos.parse()?),
        Duration::from_micros(micros.parse()?),
    ))
}
