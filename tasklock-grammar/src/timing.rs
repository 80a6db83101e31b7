//! How the lease's length, its renewals and its safety margin must fit together.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::duration::display_duration;

/// The three durations that decide what a lease survives.
///
/// A renewal that is sent at `t` extends trust to `t + ttl - margin`. The next one is sent a
/// heartbeat later, and each call may take an eighth of the ttl. What is left is the outage of the
/// database that no run notices: `ttl - margin - heartbeat - ttl/8`.
///
/// ```
/// use std::time::Duration;
/// use tasklock_grammar::Timing;
///
/// let timing = Timing::with_defaults(None, None, None);
/// assert_eq!(timing.ttl, Duration::from_secs(30));
/// assert_eq!(timing.heartbeat, Duration::from_secs(10));
/// assert_eq!(timing.margin, Duration::from_secs(6));
/// assert_eq!(timing.outage(), Duration::from_millis(10_250));
/// assert!(timing.check().is_ok());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// How long a lease lasts without renewal, by the store's clock.
    pub ttl: Duration,
    /// How often it is renewed.
    pub heartbeat: Duration,
    /// How long before the store's expiry the holder stops trusting it.
    pub margin: Duration,
}

impl Timing {
    /// The ttl of a task that names none: 30 seconds.
    pub const DEFAULT_TTL: Duration = Duration::from_secs(30);

    /// The shortest ttl: 500 ms. Below it, one slow round trip to the database costs the lease.
    pub const MIN_TTL: Duration = Duration::from_millis(500);

    /// The timing of a task that gives these options and leaves the others out.
    ///
    /// The defaults are a ttl of 30 s, a heartbeat of a third of the ttl, and a margin of a fifth.
    #[must_use]
    pub const fn with_defaults(
        ttl: Option<Duration>,
        heartbeat: Option<Duration>,
        margin: Option<Duration>,
    ) -> Self {
        let ttl = match ttl {
            Some(ttl) => ttl,
            None => Self::DEFAULT_TTL,
        };
        Self {
            ttl,
            heartbeat: match heartbeat {
                Some(heartbeat) => heartbeat,
                None => part(ttl, 3),
            },
            margin: match margin {
                Some(margin) => margin,
                None => part(ttl, 5),
            },
        }
    }

    /// The longest that one call to the store may take: an eighth of the ttl.
    #[must_use]
    pub const fn call(&self) -> Duration {
        part(self.ttl, 8)
    }

    /// How long the store may be unreachable without any run losing its lease; zero if not at all.
    #[must_use]
    pub const fn outage(&self) -> Duration {
        self.ttl
            .saturating_sub(self.margin)
            .saturating_sub(self.heartbeat)
            .saturating_sub(self.call())
    }

    /// Checks that one missed heartbeat and a short outage do not lose the lease.
    ///
    /// Two heartbeats and the margin must fit in the ttl, and [`outage`](Self::outage) must be
    /// longer than zero. The defaults always fit.
    ///
    /// # Errors
    ///
    /// Names the option that is furthest out of proportion, so never one that was left at its
    /// default, with the numbers and with what to write.
    pub fn check(&self) -> Result<(), TimingError> {
        if self.ttl < Self::MIN_TTL {
            return Err(self.short_ttl());
        }
        if self.heartbeat.is_zero() {
            return Err(zero(TimingOption::Heartbeat, part(self.ttl, 3)));
        }
        if self.margin.is_zero() {
            return Err(zero(TimingOption::Margin, part(self.ttl, 5)));
        }
        if !self.survives_a_missed_beat() || self.outage().is_zero() {
            return Err(self.out_of_proportion());
        }
        Ok(())
    }

    fn survives_a_missed_beat(&self) -> bool {
        // In numbers that nothing overflows: saturated sums of the longest durations would fit.
        2 * self.heartbeat.as_nanos() + self.margin.as_nanos() <= self.ttl.as_nanos()
    }

    fn short_ttl(&self) -> TimingError {
        let (ttl, least) = (display_duration(self.ttl), display_duration(Self::MIN_TTL));
        TimingError {
            option: TimingOption::Ttl,
            message: format!("the ttl of {ttl} is too short: write \"{least}\" or more"),
        }
    }

    fn out_of_proportion(&self) -> TimingError {
        // Each against its default share of the ttl: 1/3 and 1/5.
        let heartbeat_is_worse = 3 * self.heartbeat.as_nanos() >= 5 * self.margin.as_nanos();
        let (option, value, most) = if heartbeat_is_worse {
            (
                TimingOption::Heartbeat,
                self.heartbeat,
                self.most_heartbeat(),
            )
        } else {
            (TimingOption::Margin, self.margin, self.most_margin())
        };
        let instead = if most < MILLISECOND {
            "leave `heartbeat` and `margin` out".to_owned()
        } else {
            format!("write \"{}\" or less", display_duration(most))
        };
        let [value, ttl, heartbeat, margin, call] =
            [value, self.ttl, self.heartbeat, self.margin, self.call()].map(display_duration);
        let rule = if self.survives_a_missed_beat() {
            format!(
                "the margin of {margin}, a heartbeat of {heartbeat} and one call of {call} \
                 must leave room in it for an outage"
            )
        } else {
            format!(
                "two heartbeats of {heartbeat} (one may be missed) and the margin of {margin} \
                 must fit in it"
            )
        };
        TimingError {
            option,
            message: format!(
                "the {option} of {value} is too long for the ttl of {ttl}: {rule}; \
                 {instead}, or give a longer ttl"
            ),
        }
    }

    /// The longest heartbeat that fits, the ttl and the margin given.
    fn most_heartbeat(&self) -> Duration {
        let room = self.ttl.saturating_sub(self.margin);
        part(room, 2).min(room.saturating_sub(self.call()).saturating_sub(MILLISECOND))
    }

    /// The longest margin that fits, the ttl and the heartbeat given.
    fn most_margin(&self) -> Duration {
        let room = self.ttl.saturating_sub(self.heartbeat);
        let outage = self.call().saturating_add(MILLISECOND);
        room.saturating_sub(self.heartbeat.max(outage))
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self::with_defaults(None, None, None)
    }
}

const MILLISECOND: Duration = Duration::from_millis(1);

/// A fixed part of a duration. (`Duration / u32` is not const.)
const fn part(whole: Duration, divisor: u32) -> Duration {
    match whole.checked_div(divisor) {
        Some(part) => part,
        None => Duration::ZERO,
    }
}

fn zero(option: TimingOption, default: Duration) -> TimingError {
    let default = display_duration(default);
    TimingError {
        option,
        message: format!(
            "the {option} is longer than zero: write one such as \"{default}\", or leave it out"
        ),
    }
}

/// The option that a [`TimingError`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimingOption {
    /// `ttl`
    Ttl,
    /// `heartbeat`
    Heartbeat,
    /// `margin`
    Margin,
}

impl fmt::Display for TimingOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ttl => "ttl",
            Self::Heartbeat => "heartbeat",
            Self::Margin => "margin",
        })
    }
}

/// Why three durations do not make a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimingError {
    option: TimingOption,
    message: String,
}

impl TimingError {
    /// The option to change.
    #[must_use]
    pub fn option(&self) -> TimingOption {
        self.option
    }

    /// One line: what is wrong, with the numbers, and what to write.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for TimingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for TimingError {}
