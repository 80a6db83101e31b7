//! What the attribute says about a task.

use std::time::Duration;

use tasklock_grammar::Timing;

use super::schedule::Schedule;

/// A task's type: the handle that `#[locked_task]` puts beside the function.
///
/// Implemented by the macro; use it where a task is named in code
/// (`Runtime::builder().require::<refresh_rates>()`).
pub trait TaskSpec {
    /// The task's name in the store.
    const NAME: &'static str;
}

/// What happens to the handler when its lease is lost: the attribute's `on_lost`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnLost {
    /// The handler's future is dropped at its next await point.
    #[default]
    Abort,
    /// The handler is only told, and ends by itself.
    Signal,
    /// The process ends with code 75, after its other leases were marked lost and given back.
    Exit,
}

/// The options of one `#[locked_task]`. Built in a `const`, by the macro: the defaults are here, the
/// macro names only what the user gave.
#[derive(Debug, Clone)]
pub struct Definition {
    pub(crate) name: &'static str,
    ttl: Option<Duration>,
    heartbeat: Option<Duration>,
    margin: Option<Duration>,
    pub(crate) schedule: Schedule,
    pub(crate) timeout: Option<Duration>,
    pub(crate) on_lost: OnLost,
}

impl Definition {
    /// An on-demand task with the default timing.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            ttl: None,
            heartbeat: None,
            margin: None,
            schedule: Schedule::OnDemand,
            timeout: None,
            on_lost: OnLost::Abort,
        }
    }

    /// The lease's length.
    #[must_use]
    pub const fn ttl_nanos(mut self, nanos: u64) -> Self {
        self.ttl = Some(Duration::from_nanos(nanos));
        self
    }

    /// The renewal period.
    #[must_use]
    pub const fn heartbeat_nanos(mut self, nanos: u64) -> Self {
        self.heartbeat = Some(Duration::from_nanos(nanos));
        self
    }

    /// How long before the store's expiry the loss is signalled.
    #[must_use]
    pub const fn margin_nanos(mut self, nanos: u64) -> Self {
        self.margin = Some(Duration::from_nanos(nanos));
        self
    }

    /// Runs at a fixed rate.
    #[must_use]
    pub const fn every_nanos(mut self, nanos: u64) -> Self {
        self.schedule = Schedule::Every(Duration::from_nanos(nanos));
        self
    }

    /// Runs at a fixed delay after the end of the run before.
    #[must_use]
    pub const fn after_nanos(mut self, nanos: u64) -> Self {
        self.schedule = Schedule::After(Duration::from_nanos(nanos));
        self
    }

    /// The longest run.
    #[must_use]
    pub const fn timeout_nanos(mut self, nanos: u64) -> Self {
        self.timeout = Some(Duration::from_nanos(nanos));
        self
    }

    /// What a lost lease does to the handler.
    #[must_use]
    pub const fn on_lost(mut self, on_lost: OnLost) -> Self {
        self.on_lost = on_lost;
        self
    }

    /// The lease's timing, with the defaults filled in.
    #[must_use]
    pub const fn timing(&self) -> Timing {
        Timing::with_defaults(self.ttl, self.heartbeat, self.margin)
    }
}
