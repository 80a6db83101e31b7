//! What a state remembers for the properties' sake.

/// What a step can break, as bits of [`State::broken`](crate::state::State::broken).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Broken {
    /// P1: a grant with a fence that is not greater than all before.
    Fence = 1,
    /// P2: a grant inside an earlier interval.
    Interval = 2,
    /// P4: a guarded commit after a later grant.
    Guard = 4,
    /// P4, stronger: a guarded commit after the end of its own run.
    GuardAfterEnd = 8,
    /// P6: an end of a run by somebody else, or a second one.
    End = 16,
}

/// Steps worth reaching, for the *sometimes* properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// Anything else.
    Other,
    /// A takeover was committed.
    Takeover,
    /// A takeover's second look found the lease renewed since its first.
    LookSaved,
    /// A grant arrived after its own deadline, and was given back.
    ClaimTooLate,
    /// A confirmed renewal moved the deadline.
    Extended,
    /// A renewal was carried out, and its reply lost.
    ReplyLost,
    /// A confirmation arrived after the deadline, and was ignored.
    LateConfirmation,
    /// A renewal found its row locked by a takeover.
    Busy,
    /// A renewal found that the lease had passed to another owner.
    TakenOver,
    /// A renewal that nobody waits for any more was carried out.
    StrayRenewal,
    /// A stopped holder came back and its end changed nothing.
    StaleEnd,
    /// A stopped holder came back and its guard was refused.
    GuardRefused,
    /// A guarded transaction committed.
    GuardCommitted,
    /// A guarded transaction committed whose process no longer trusted its lease.
    LateGuard,
    /// A guarded transaction ended its run.
    Completed,
    /// A renewal was carried out while a guard held the row.
    BeatBesideGuard,
}
