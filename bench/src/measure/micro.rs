//! What happens in the process alone, with the store in memory, on one thread.
//!
//! No public call tells when a claim has come back. What is measured is the way to the handler from the opening of its run's
//! `tracing` span, which is the first thing that a run does after the claim; and, as the bound of all that comes before, the
//! way from the return of an enqueue: over a wake, a look, a claim and a spawned run.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use tasklock_runtime::{LeaseContext, Payload, Runtime, locked_task};
use tokio::task::{spawn_blocking, yield_now};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::process::now;

const BATCHES: usize = 500;
const CALLS: u32 = 1_000;
/// One after the other: none opens its span while another is on its way.
const JOBS: u32 = 10_000;

/// In nanoseconds: when the last span was opened, and when the last handler was called; 0 before that.
static OPENED: AtomicU64 = AtomicU64::new(0);
static CALLED: AtomicU64 = AtomicU64::new(0);

#[locked_task(ttl = "30s", keep = "none")]
async fn called(_lease: LeaseContext, _number: Payload<u32>) {
    CALLED.store(nanos(), Ordering::Relaxed);
}

pub async fn figures() -> Result<Value> {
    tracing::subscriber::set_global_default(Spans)?;
    let thread = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    spawn_blocking(move || thread.block_on(on_one_thread())).await?
}

async fn on_one_thread() -> Result<Value> {
    let runtime = Runtime::builder()
        .database_url("memory:")
        .only([called::NAME])
        .handle_signals(false)
        .build()
        .await?;
    let (client, stop) = (runtime.client(), runtime.shutdown_handle());
    let running = tokio::spawn(runtime.run());

    let lease = client.lease("micro").ttl(Duration::from_secs(3_600));
    let lease = lease.try_acquire().await?.context("nobody else has it")?;
    let mut check = each(|| lease.check().is_ok());
    let mut clock = each(|| clock_gettime(ClockId::Boottime).tv_nsec > 0);
    lease.release().await;

    let (mut spans, mut enqueues) = (Vec::new(), Vec::new());
    for number in 0..JOBS {
        CALLED.store(0, Ordering::Relaxed);
        called::enqueue(&client, number).await?;
        let returned = nanos();
        while CALLED.load(Ordering::Relaxed) == 0 {
            yield_now().await;
        }
        let called = CALLED.load(Ordering::Relaxed);
        spans.push(called.saturating_sub(OPENED.load(Ordering::Relaxed)) as f64);
        enqueues.push(called.saturating_sub(returned) as f64);
    }
    stop.shutdown();
    running.await??;
    Ok(json!({
        "check_ns": at(&mut check, 0.5),
        "clock_ns": at(&mut clock, 0.5),
        "span_to_handler_ns": at(&mut spans, 0.5),
        "span_to_handler_p99_ns": at(&mut spans, 0.99),
        "enqueue_to_handler_ns": at(&mut enqueues, 0.5),
    }))
}

/// What one call takes in each batch, in nanoseconds.
fn each(call: impl Fn() -> bool) -> Vec<f64> {
    let batch = || {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(call());
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
    };
    (0..BATCHES).map(|_| batch()).collect()
}

fn at(times: &mut [f64], share: f64) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    let index = (times.len() as f64 * share) as usize;
    (times[index.min(times.len() - 1)] * 10.0).round() / 10.0
}

fn nanos() -> u64 {
    now().as_nanos() as u64
}

/// Knows only when the last run's span was opened.
struct Spans;

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.name() == "task"
    }

    fn new_span(&self, _attributes: &Attributes<'_>) -> Id {
        OPENED.store(nanos(), Ordering::Relaxed);
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, _event: &Event<'_>) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}
