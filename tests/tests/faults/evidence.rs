//! What the oracle is given, and what it says.

use std::time::Duration;

use tasklock_tests::torment::ledger::Belief;

use super::audit::Entry;
use super::clerk::Book;

/// What is judged.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) log: Vec<Entry>,
    /// Effects that are in no transaction of the store's.
    pub(crate) elsewhere: Vec<Entry>,
    pub(crate) beliefs: Vec<Belief>,
    /// The store's clock less the machine's time since boot, in microseconds.
    pub(crate) offset: i64,
    /// What was ordered, and what came back.
    pub(crate) book: Book,
    /// The rows in the end: id, state, attempt, crashes.
    pub(crate) rows: Vec<(i64, String, i64, i64)>,
    /// What orders within transactions have written beside their jobs.
    pub(crate) bookings: Vec<u64>,
    /// Everybody had the time to end what there was.
    pub(crate) settled: bool,
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
    /// How often a name was acquired, and how often with the takeover of the run that had it.
    pub(crate) names: usize,
    pub(crate) inherited: usize,
    pub(crate) renewed: usize,
    pub(crate) effects: usize,
    pub(crate) jobs: Figures,
}

/// How many jobs were enqueued, and what became of them; one that was retried ends again.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) entered: usize,
    pub(crate) done: usize,
    pub(crate) gone: usize,
    pub(crate) dead: usize,
    pub(crate) poisoned: usize,
    pub(crate) cancelled: usize,
    pub(crate) retried: usize,
    pub(crate) pruned: usize,
    /// Orders whose answer was lost, and those of them that were carried out.
    pub(crate) unknown: usize,
    pub(crate) unknown_there: usize,
    /// Orders in transactions that were rolled back.
    pub(crate) rolled_back: usize,
    /// Orders whose key was taken.
    pub(crate) existing: usize,
}
