//! From a reading of the clock to the moment up to which a lease may be trusted.

use std::time::Duration;

use tasklock_grammar::Timing;

use super::clock::Moment;

/// How long an acknowledgement of the store is worth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trust(Duration);

impl Trust {
    /// `ttl - margin`: the margin covers what the two clocks' rates may differ by within one ttl.
    pub(crate) const fn of(timing: &Timing) -> Self {
        Self(timing.ttl.saturating_sub(timing.margin))
    }

    /// The deadline that an acknowledgement gives, for a statement sent at `t0`.
    ///
    /// `t0` must be read *before* the statement is sent: the store cannot have counted the ttl from
    /// an earlier moment. Read at the reply, the deadline would be late by the whole round trip.
    pub(crate) fn deadline(self, t0: Moment) -> Moment {
        t0 + self.0
    }
}
