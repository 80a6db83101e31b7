//! What the oracle is given, and what it says.

use std::time::Duration;

use tasklock_tests::torment::ledger::Belief;

use super::audit::Entry;

/// What is judged.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) log: Vec<Entry>,
    pub(crate) beliefs: Vec<Belief>,
    /// The store's clock less the machine's time since boot, in microseconds.
    pub(crate) offset: i64,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Each begins with the property's name.
    pub(crate) violations: Vec<String>,
    /// Guarded transactions that were committed under a spent fence.
    pub(crate) overlaps: usize,
    /// Unguarded effects that came after another owner's claim.
    pub(crate) canaries: usize,
    /// Those of them before which the process did not stand still.
    pub(crate) prompt_canaries: usize,
    /// From the expiry of a lease to the next claim of its job.
    pub(crate) takeovers: Vec<Duration>,
    /// From the last check that succeeded to the claim that took the job over.
    pub(crate) margins: Vec<Duration>,
    pub(crate) acquired: usize,
    pub(crate) renewed: usize,
    pub(crate) effects: usize,
}
