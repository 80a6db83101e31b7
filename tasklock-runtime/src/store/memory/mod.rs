//! Jobs and leases in this process's memory: for tests, and as the plainest reading of the contract.

#[cfg(any(test, feature = "testing"))]
mod by_hand;
mod claim;
mod declare;
mod end;
mod named;
mod resources;
mod rows;
mod steer;
mod verbs;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use super::JobRow;
use crate::task::micros;
use rows::Rows;

/// A store that lives as long as the process, and is shared by its clones.
#[derive(Clone)]
pub struct Memory {
    rows: Arc<Mutex<Rows>>,
    announcements: watch::Sender<u64>,
    /// Instead of the system's: microseconds since the Unix epoch.
    clock: Option<StoreClock>,
}

type StoreClock = Arc<dyn Fn() -> i64 + Send + Sync>;

impl Default for Memory {
    fn default() -> Self {
        Self {
            rows: Arc::default(),
            announcements: watch::Sender::new(0),
            clock: None,
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory")
    }
}

impl Memory {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        // Each verb changes rows only after it has looked at all it needs: a panic leaves them whole.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self) {
        self.announcements.send_modify(|count| *count += 1);
    }

    fn now_micros(&self) -> i64 {
        if let Some(clock) = &self.clock {
            return clock();
        }
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, micros)
    }

    fn inspect_now(&self, jobs: &[i64]) -> Vec<JobRow> {
        let now = self.now_micros();
        let rows = self.rows();
        jobs.iter()
            .filter_map(|id| Some(rows.jobs.get(id)?.row(*id, now)))
            .collect()
    }
}
