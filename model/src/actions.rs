//! What can happen next.
//!
//! Nothing here is ever forced to happen. That no step has to be taken is how a process is paused,
//! for any time and at any point, and how a message is delayed.

use crate::state::Ticks;

/// A step of the world. `worker` numbers a process, `name` a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// One tick of real time, for everybody.
    Tick,
    /// The store's clock is set back.
    StepBack,
    /// The store's clock is set forward.
    StepForward,

    /// The process reads its clock and sends a claim. `late` is how many ticks its clock will lose
    /// before the trust that this reading gives has run out.
    SendClaim {
        /// The process.
        worker: usize,
        /// The name.
        name: u8,
        /// Ticks that its clock will lose.
        late: Ticks,
    },
    /// The store carries the claim out as far as one statement goes: a ready row is granted, an
    /// expired one is seen by the takeover's first statement.
    ApplyClaim {
        /// The process.
        worker: usize,
    },
    /// The takeover's first statement locks the row that it saw, if it still looks expired.
    LockRow {
        /// The process.
        worker: usize,
    },
    /// The process sends the takeover's second statement. A step of its own only for one control.
    SendTake {
        /// The process.
        worker: usize,
        /// Ticks that its clock will lose.
        late: Ticks,
    },
    /// The takeover's second statement looks at the side row, under the lock; writes; commits.
    Take {
        /// The process.
        worker: usize,
    },
    /// The claim's reply arrives.
    DeliverClaim {
        /// The process.
        worker: usize,
    },
    /// The claim's reply is given up, and what it may have granted is given back by its token.
    AbandonClaim {
        /// The process.
        worker: usize,
    },
    /// The process dies, or gives up what it was doing: nothing of it is left but what it has sent.
    Crash {
        /// The process.
        worker: usize,
    },

    /// The heartbeat reads the clock and sends a renewal.
    SendBeat {
        /// The process.
        worker: usize,
        /// Ticks that its clock will lose.
        late: Ticks,
    },
    /// The renewal locks the job row in shared mode and computes the new expiry; or it skips the row,
    /// or does not find it.
    BeginBeat {
        /// The process.
        worker: usize,
    },
    /// The renewal writes the side row and commits.
    CommitBeat {
        /// The process.
        worker: usize,
    },
    /// The renewal's reply arrives; where it does not confirm, the row is read back.
    DeliverBeat {
        /// The process.
        worker: usize,
    },
    /// The renewal's reply is given up: lost, or too late for its call. What was sent and not yet
    /// carried out may still be (`kept`).
    TimeOutBeat {
        /// The process.
        worker: usize,
        /// Whether the statement stays in flight.
        kept: bool,
    },

    /// The handler has ended and no renewal is under way any more: the lease is marked as given back,
    /// and the end is sent, or the COMMIT of a `complete_in`.
    SendEnd {
        /// The process.
        worker: usize,
    },
    /// The store carries the end out. Without the reply, the process will send it again.
    ApplyEnd {
        /// The process.
        worker: usize,
        /// Whether the reply arrives.
        replied: bool,
    },
    /// The process waits for its end's reply no longer, and the statement stays in flight.
    TimeOutEnd {
        /// The process.
        worker: usize,
    },

    /// The handler begins a guarded transaction; with `ends`, one that also ends the run.
    AskGuard {
        /// The process.
        worker: usize,
        /// Whether it is a `complete_in`.
        ends: bool,
    },
    /// The guard statement gets its lock, compares, and passes or is refused.
    EnterGuard {
        /// The process.
        worker: usize,
    },
    /// The guarded transaction's COMMIT is carried out.
    CommitGuard {
        /// The process.
        worker: usize,
    },
    /// The guarded transaction is rolled back: by its process, by the end of its connection, or by
    /// the server's time-out.
    AbortGuard {
        /// The process.
        worker: usize,
    },

    /// A statement that nobody waits for any more goes on: a renewal begins or commits, an end is
    /// carried out.
    ApplyStray {
        /// Its place among those in flight.
        index: usize,
    },
}
