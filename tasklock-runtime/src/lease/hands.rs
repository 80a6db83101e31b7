//! A clock that stands still unless a test moves it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::clock::{Clock, Moment};

/// Where it starts: late enough that nothing a test subtracts goes below zero.
const START: Duration = Duration::from_secs(1_000_000);

/// Moved by hand, and by nothing else.
#[derive(Debug)]
pub(crate) struct HandClock {
    now: AtomicU64,
    suspended: AtomicU64,
}

impl HandClock {
    pub(crate) fn new() -> Self {
        Self {
            now: AtomicU64::new(nanos(START)),
            suspended: AtomicU64::new(0),
        }
    }

    /// Time passes.
    pub(crate) fn advance(&self, time: Duration) {
        self.now.fetch_add(nanos(time), Ordering::SeqCst);
    }

    /// Time passes, and the machine sleeps meanwhile.
    pub(crate) fn suspend(&self, time: Duration) {
        self.suspended.fetch_add(nanos(time), Ordering::SeqCst);
        self.advance(time);
    }

    /// The time since it was made.
    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.now().as_nanos()).saturating_sub(START)
    }
}

impl Clock for HandClock {
    fn now(&self) -> Moment {
        Moment::from_nanos(self.now.load(Ordering::SeqCst))
    }

    fn suspended(&self) -> Duration {
        Duration::from_nanos(self.suspended.load(Ordering::SeqCst))
    }
}

fn nanos(time: Duration) -> u64 {
    // Some 584 years; then it would wrap. No test gets there in two calls.
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 4)
}
