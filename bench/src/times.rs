//! Moments that two sides have noted, and what lies between them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How often the latency is measured, and how long nothing happens in between.
pub const SAMPLES: u32 = 300;
pub const GAP: Duration = Duration::from_millis(40);

static STARTS: Mutex<Option<HashMap<u32, Instant>>> = Mutex::new(None);

/// A handler has started.
pub fn started(number: u32) {
    let mut starts = STARTS.lock().unwrap_or_else(PoisonError::into_inner);
    starts
        .get_or_insert_default()
        .insert(number, Instant::now());
}

/// How long after this moment it did, waited for.
pub async fn after(number: u32, from: Instant) -> Duration {
    loop {
        let started = {
            let starts = STARTS.lock().unwrap_or_else(PoisonError::into_inner);
            starts
                .as_ref()
                .and_then(|starts| starts.get(&number).copied())
        };
        if let Some(started) = started {
            return started.saturating_duration_since(from);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The median, the 99th percentile and the longest, in milliseconds.
pub fn figures(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let at = |share: f64| {
        let index = (times.len() as f64 * share) as usize;
        let time = times[index.min(times.len() - 1)];
        (time.as_secs_f64() * 1e5).round() / 100.0
    };
    json!({ "p50_ms": at(0.5), "p99_ms": at(0.99), "most_ms": at(1.0) })
}
