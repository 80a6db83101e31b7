//! What handlers tell: that they have run, and when they have started.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::now;

static RUNS: AtomicU64 = AtomicU64::new(0);
/// Whether the moments are of interest too: they take a lock.
static NOTING: AtomicBool = AtomicBool::new(false);
static STARTS: Mutex<Option<HashMap<u32, Duration>>> = Mutex::new(None);

/// What each system's handler does, and all that it does.
pub fn ran(number: u32) {
    RUNS.fetch_add(1, Ordering::Relaxed);
    if NOTING.load(Ordering::Relaxed) {
        let mut starts = STARTS.lock().unwrap_or_else(PoisonError::into_inner);
        starts.get_or_insert_default().insert(number, now());
    }
}

/// How many runs there were.
pub fn runs() -> u64 {
    RUNS.load(Ordering::Relaxed)
}

pub fn note() {
    NOTING.store(true, Ordering::Relaxed);
}

/// When this handler started, waited for.
pub async fn start_of(number: u32) -> Duration {
    loop {
        let started = {
            let starts = STARTS.lock().unwrap_or_else(PoisonError::into_inner);
            starts
                .as_ref()
                .and_then(|starts| starts.get(&number).copied())
        };
        if let Some(started) = started {
            return started;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The median, the 99th percentile and the longest, in milliseconds.
pub fn figures(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let at = |share: f64| {
        let index = (times.len() as f64 * share) as usize;
        millis(times[index.min(times.len() - 1)])
    };
    json!({ "p50_ms": at(0.5), "p99_ms": at(0.99), "most_ms": at(1.0) })
}

pub fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// So many a second.
pub fn rate(count: u32, took: Duration) -> f64 {
    (f64::from(count) / took.as_secs_f64()).round()
}
