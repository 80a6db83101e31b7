//! When a lease is renewed: the attribute's `renew` and `stall`.

use std::time::Duration;

use super::definition::Definition;

/// What a renewal of the lease depends on: the attribute's `renew`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Renew {
    /// On the process alone: the heartbeat renews while it lives, and so a handler that hangs for ever,
    /// unless it has a `timeout`.
    #[default]
    Auto,
    /// On the handler's reports: the heartbeat renews while it has called
    /// [`progress`](crate::LeaseContext::progress) within the `stall`. Then the lease is lost.
    Progress,
    /// On the handler alone: it calls [`renew`](crate::LeaseContext::renew), or the lease is lost at its
    /// deadline.
    Manual,
}

impl Definition {
    /// What a renewal depends on.
    #[must_use]
    pub const fn renew(mut self, renew: Renew) -> Self {
        self.renew = renew;
        self
    }

    /// How long the handler may report nothing, with `Renew::Progress`.
    #[must_use]
    pub const fn stall_nanos(mut self, nanos: u64) -> Self {
        self.stall = Some(Duration::from_nanos(nanos));
        self
    }

    /// `renew`.
    #[must_use]
    pub const fn renewal(&self) -> Renew {
        self.renew
    }

    /// Whether something of it is measured from the claim, and not from the handler's start.
    pub(crate) fn counts_from_the_claim(&self) -> bool {
        self.hold().is_some() || self.renewal() != Renew::Auto
    }

    /// `stall`, with its default; `None` where nothing has to be reported.
    #[must_use]
    pub const fn stall(&self) -> Option<Duration> {
        match (self.renew, self.stall) {
            (Renew::Progress, None) => Some(self.timing().default_stall()),
            (Renew::Progress, stall) => stall,
            _ => None,
        }
    }

    /// `stall`, as it was given.
    pub(crate) const fn given_stall(&self) -> Option<Duration> {
        self.stall
    }

    /// `heartbeat`, as it was given.
    pub(crate) const fn given_heartbeat(&self) -> Option<Duration> {
        self.heartbeat
    }
}
