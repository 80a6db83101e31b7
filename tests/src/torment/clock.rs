//! Clocks that are not the system's.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tasklock_runtime::{BootClock, Clock, Moment};

use super::command;

/// A clock with a fault.
#[derive(Debug)]
pub(crate) enum Faulty {
    /// Right, but for suspends that a command injects.
    Suspended,
    /// Shows another time, by so many seconds.
    Ahead(u64),
    /// Goes at this rate.
    Rate(f64),
    /// Stands still while the process does, as a clock that does not count suspended time.
    Blind(Mutex<(u64, u64)>),
}

/// A longer gap between two readings is a suspend; a thread reads it all the time.
const GAP: u64 = 300_000_000;
const PERIOD: Duration = Duration::from_millis(10);

/// The clock that `FAULT_CLOCK` names: `ahead SECONDS`, `rate FACTOR` or `blind`.
pub(crate) fn wanted() -> Option<Arc<Faulty>> {
    let text = std::env::var("FAULT_CLOCK").ok()?;
    let (kind, value) = text.split_once(' ').unwrap_or((&text, ""));
    let clock = Arc::new(match kind {
        "suspended" => Faulty::Suspended,
        "ahead" => Faulty::Ahead(value.parse().expect("seconds")),
        "rate" => Faulty::Rate(value.parse().expect("a factor")),
        "blind" => Faulty::Blind(Mutex::new((BootClock.now().as_nanos(), 0))),
        _ => panic!("no such clock: {text}"),
    });
    let read = Arc::clone(&clock);
    std::thread::spawn(move || {
        loop {
            read.now();
            std::thread::sleep(PERIOD);
        }
    });
    Some(clock)
}

impl Clock for Faulty {
    fn now(&self) -> Moment {
        let now = BootClock.now();
        match self {
            Self::Suspended => now + command::suspended(),
            Self::Ahead(seconds) => now + Duration::from_secs(*seconds),
            Self::Rate(rate) => Moment::from_nanos((now.as_nanos() as f64 * rate) as u64),
            Self::Blind(state) => {
                let mut state = state.lock().expect("no holder panics");
                let (last, slept) = *state;
                let now = now.as_nanos();
                let gap = now.saturating_sub(last);
                let slept = if gap > GAP { slept + gap } else { slept };
                *state = (now, slept);
                Moment::from_nanos(now - slept)
            }
        }
    }

    fn suspended(&self) -> Duration {
        match self {
            Self::Suspended => BootClock.suspended() + command::suspended(),
            _ => Duration::ZERO,
        }
    }
}
