//! A standing job as it was claimed, and what is to be done about it.

use super::Next;

/// What the end of a standing job's run says of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Passed {
    /// So many have passed for which a run stood that was another slot's.
    pub missed: u32,
    /// So many for which no run did.
    pub skipped: u32,
    /// The slot that is to be run next, where it is a later one than the claimed, and has come.
    pub slot: Option<i64>,
    /// What the claim was told that follows the run; where the row says something else by now, that counts.
    pub follows: Option<Next>,
}

/// A standing job as it was claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub(crate) slot: Option<i64>,
    pub(crate) due: i64,
    /// When the slot was first claimed.
    pub(crate) begun_at: i64,
    /// The slot is one of a schedule that was changed since; this comes next.
    pub(crate) follows: Option<Next>,
    /// When, by the store's clock.
    pub(crate) now: i64,
}

impl Claimed {
    /// Whether the run is an extra one, and the slot stays.
    pub(crate) fn is_extra(&self) -> bool {
        self.slot.is_none_or(|slot| self.due < slot)
    }
}

/// What becomes of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is run, for its slot or as an extra run.
    Run,
    /// Another slot is to be run, which has come as well; so many before it are skipped.
    Later { slot: i64, skipped: u32 },
    /// It is not run: so many slots are skipped, and this one comes next.
    Skip { next: Next, skipped: u32 },
}
