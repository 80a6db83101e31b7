//! What a definition says, with the defaults filled in.

use std::time::Duration;

use tasklock_grammar::Timing;

use super::Definition;
use crate::task::schedule::{Declared, Missed, Plan, ScheduleError};

impl Definition {
    /// The lease's timing, with the defaults filled in.
    #[must_use]
    pub const fn timing(&self) -> Timing {
        Timing::with_defaults(self.ttl, self.heartbeat, self.margin)
    }

    /// Whether the task runs by itself.
    #[must_use]
    pub const fn is_scheduled(&self) -> bool {
        !matches!(self.schedule, Declared::OnDemand)
    }

    /// What its schedule says of its slots.
    ///
    /// # Errors
    ///
    /// A cron that is none, or an unknown zone.
    pub(crate) fn plan(&self) -> Result<Plan, ScheduleError> {
        let schedule = self.schedule.read()?;
        let jitter = self.jitter.unwrap_or_default();
        let missed = self.missed.unwrap_or_default();
        let most = self.max_missed.unwrap_or(Self::MAX_MISSED);
        let plan =
            Plan::new(self.name, schedule)
                .spread(jitter)
                .missing(missed, most, self.catch_up);
        Ok(if self.payload {
            plan.undeclared()
        } else {
            plan
        })
    }

    /// `jitter`, as it was given.
    pub(crate) const fn given_jitter(&self) -> Option<Duration> {
        self.jitter
    }

    /// `missed`, as it was given.
    pub(crate) const fn given_missed(&self) -> Option<Missed> {
        self.missed
    }

    /// `max_missed`, as it was given.
    pub(crate) const fn given_max_missed(&self) -> Option<u32> {
        self.max_missed
    }

    /// `catch_up`, as it was given.
    pub(crate) const fn given_catch_up(&self) -> Option<Duration> {
        self.catch_up
    }

    /// `on_start`.
    pub(crate) const fn runs_on_start(&self) -> bool {
        self.on_start
    }

    /// `alias`.
    pub(crate) const fn former_names(&self) -> &'static [&'static str] {
        self.aliases
    }

    /// Whether its slots can be known, and so missed.
    pub(crate) const fn has_slots(&self) -> bool {
        matches!(self.schedule, Declared::Every(_) | Declared::Cron(..))
    }

    /// `retries`, with its default: a scheduled task waits for its next slot.
    #[must_use]
    pub const fn most_retries(&self) -> u32 {
        match self.retries {
            Some(retries) => retries,
            None if self.is_scheduled() => 0,
            None => 5,
        }
    }

    /// `backoff`: least and most.
    #[must_use]
    pub const fn backoff(&self) -> (Duration, Duration) {
        self.backoff
    }

    /// `max_crashes`.
    #[must_use]
    pub const fn most_crashes(&self) -> u32 {
        self.max_crashes
    }

    /// With so many crashes a job is taken over apart from others: it may be what makes them.
    #[must_use]
    pub const fn suspect_from(&self) -> u32 {
        if self.max_crashes < 2 {
            1
        } else {
            self.max_crashes / 2
        }
    }

    /// `concurrency`, as it was given.
    pub(crate) const fn given_limit(&self) -> Option<u32> {
        self.concurrency
    }

    /// `concurrency`; `None`: no bound. A scheduled task has one job, and so one run: nothing is to count.
    #[must_use]
    pub const fn limit(&self) -> Option<u32> {
        if self.is_scheduled() {
            None
        } else {
            self.concurrency
        }
    }

    /// `queue`.
    #[must_use]
    pub const fn queue_name(&self) -> &'static str {
        self.queue
    }

    /// `priority`.
    #[must_use]
    pub const fn base_priority(&self) -> i16 {
        self.priority
    }

    /// `min_hold`.
    #[must_use]
    pub const fn hold(&self) -> Option<Duration> {
        self.min_hold
    }

    /// `keep`; `None`: not at all.
    #[must_use]
    pub const fn kept_for(&self) -> Option<Duration> {
        self.keep
    }

    /// Whether the handler is a plain function.
    #[must_use]
    pub const fn is_blocking(&self) -> bool {
        self.blocking
    }

    /// Whether the handler takes a payload.
    #[must_use]
    pub const fn has_payload(&self) -> bool {
        self.payload
    }
}
