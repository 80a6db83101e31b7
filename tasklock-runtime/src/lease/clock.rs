//! The local clock that deadlines are read on.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A reading of a [`Clock`]: nanoseconds since some fixed start, the same for the whole process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// The moment `nanos` nanoseconds after the clock's start.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the clock's start.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero if it is not.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, rhs: Duration) -> Self {
        let nanos = u64::try_from(rhs.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }
}

/// A steady clock that never steps and goes on while the machine sleeps.
///
/// A lease expires by the store's clock, which does not stop when this machine is suspended, so the
/// clock that the holder's deadline is read on must not either. Tests inject their own.
pub trait Clock: Send + Sync + fmt::Debug + 'static {
    /// The present moment.
    fn now(&self) -> Moment;

    /// How long the machine has been suspended since the clock's start. Tells a loss that a suspend
    /// caused from any other; nothing else depends on it.
    fn suspended(&self) -> Duration {
        Duration::ZERO
    }
}

/// The operating system's clock that counts suspended time.
///
/// On Linux and Android this is `CLOCK_BOOTTIME`. `std::time::Instant` reads `CLOCK_MONOTONIC`, which
/// stands still in suspend (rust-lang/rust#87906). On macOS `CLOCK_MONOTONIC` itself goes on in
/// suspend; this is not tested there, nor anywhere but on Linux.
#[derive(Debug, Clone, Copy, Default)]
pub struct BootClock;

#[cfg(any(target_os = "linux", target_os = "android"))]
const STEADY: ClockId = ClockId::Boottime;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const STEADY: ClockId = ClockId::Monotonic;

impl Clock for BootClock {
    fn now(&self) -> Moment {
        Moment(nanos(STEADY))
    }

    fn suspended(&self) -> Duration {
        // Monotonic first: read the other way round, a pause in between would look like a suspend
        // that ended, which the saturating difference then hides.
        let awake = nanos(ClockId::Monotonic);
        Duration::from_nanos(nanos(STEADY).saturating_sub(awake))
    }
}

fn nanos(id: ClockId) -> u64 {
    let time = clock_gettime(id);
    // Both clocks start near boot: neither negative, nor beyond 584 years.
    (time.tv_sec as u64)
        .saturating_mul(1_000_000_000)
        .saturating_add(time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_forward_and_adds_up() {
        let clock = BootClock;
        let first = clock.now();
        let second = clock.now();
        assert!(second >= first);
        assert_eq!((first + Duration::from_nanos(5)).since(first).as_nanos(), 5);
        assert_eq!(first.since(first + Duration::from_secs(1)), Duration::ZERO);
    }
}
