//! What a state of the world is.
//!
//! No field holds an instant. Every time is a number of ticks *from now*, so that a tick is a
//! subtraction, what lies far enough in the past is all the same, and the state space is finite
//! without a horizon: an instance covers runs of any length, bounded only in the number of grants
//! per name.

use std::fmt;

use crate::history::{Broken, Event};

/// The most workers of an instance.
pub const MAX_WORKERS: usize = 3;
/// The most names of an instance.
pub const MAX_NAMES: usize = 2;
/// The most forgotten statements in flight at a time.
pub const MAX_STRAYS: usize = 2;

/// Ticks from now.
pub type Ticks = i8;

/// The world: processes, store, network, and what the properties need to remember.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// The processes; those beyond the instance's number stay idle.
    pub workers: [Worker; MAX_WORKERS],
    /// The store; rows beyond the instance's number stay as they were.
    pub rows: [Row; MAX_NAMES],
    /// Statements whose senders no longer wait, in order.
    pub strays: [Stray; MAX_STRAYS],
    /// Whether the store's clock may still step back, once.
    pub may_step_back: bool,
    /// Whether the store's clock may still step forward, once.
    pub may_step_forward: bool,
    /// What was broken by a step, as bits of [`Broken`].
    pub broken: u8,
    /// What happened last; always [`Event::Other`] unless the instance records it.
    pub last: Event,
}

/// A process: one run at a time, and one guarded transaction, which may outlive the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Worker {
    /// What the process knows of a lease.
    pub run: Run,
    /// Its guarded transaction, as the store sees it.
    pub guard: Guard,
}

/// Where a process is with its lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Run {
    /// It has none.
    Idle,
    /// A claim is under way.
    Claiming {
        /// The name that is claimed.
        name: u8,
        /// How long the grant would be trusted if its reply came now.
        trust: Ticks,
        /// How far it is.
        step: Claim,
    },
    /// The handler runs.
    Holding {
        /// The name.
        name: u8,
        /// The fence of this acquisition.
        fence: u8,
        /// How much longer `check()` succeeds; 0: it fails.
        trust: Ticks,
        /// Whether `check()` has been failing at any time.
        lost: bool,
        /// The renewal under way.
        beat: Beat,
    },
    /// The handler has ended and the end is being written: finish or release.
    Ending {
        /// The name.
        name: u8,
        /// The fence of this acquisition.
        fence: u8,
        /// How much longer a copy of the handle that outlived the handler passes `check()`.
        trust: Ticks,
    },
}

/// How far a claim is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Claim {
    /// Sent, not yet carried out.
    Sent,
    /// The takeover's first statement has taken its snapshot, in which the lease had expired.
    Seen,
    /// The takeover's first statement has locked the job row, and committed nothing.
    Locked {
        /// Up to when a lock would last that is counted from the transaction's start.
        begun: Ticks,
    },
    /// The takeover's second statement is on its way; a state of its own only for one control.
    Writing {
        /// As in `Locked`.
        begun: Ticks,
    },
    /// Committed; the reply is on its way.
    Granted {
        /// The fence that was granted.
        fence: u8,
    },
}

/// The renewal whose reply a process waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Beat {
    /// None.
    None,
    /// Sent, not yet carried out.
    Sent {
        /// How long its confirmation would be trusted if it came now.
        trust: Ticks,
    },
    /// Under way in the store: the job row is locked in shared mode, the new expiry is computed, and
    /// nothing is committed.
    Begun {
        /// As in `Sent`.
        trust: Ticks,
        /// The new expiry.
        until: Ticks,
    },
    /// Carried out; the reply is on its way.
    Answered {
        /// As in `Sent`.
        trust: Ticks,
        /// Whether the answer names the lease.
        confirmed: bool,
    },
}

/// A guarded transaction of the user, as the store sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Guard {
    /// None.
    None,
    /// The guard statement is on its way, or waits for the row's lock.
    Asked(Guarded),
    /// It has passed, and holds its lock; the COMMIT is on its way.
    Passed(Guarded),
}

/// What a guard stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guarded {
    /// The name.
    pub name: u8,
    /// The fence it asks for.
    pub fence: u8,
    /// Whether it also ends the run (`complete_in`).
    pub ends: bool,
}

/// A job row with its side row, and what the properties remember of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Row {
    /// The fence of the latest acquisition.
    pub fence: u8,
    /// Whether a run is under way.
    pub running: bool,
    /// `lock_until` of the job row, written by claims and takeovers.
    pub until: Ticks,
    /// `lock_until` of the side row with the job row's fence, written by renewals.
    pub side: Ticks,
    /// History: the greatest fence ever granted.
    pub granted: u8,
    /// History: the latest expiry that was ever committed for the present run.
    pub promised: Ticks,
    /// History: where the latest of all earlier intervals ended.
    pub past: Ticks,
}

/// A statement in flight that nobody waits for any more: its call timed out, or its process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stray {
    /// None.
    None,
    /// A renewal.
    Renewal {
        /// The name.
        name: u8,
        /// The fence it names.
        fence: u8,
    },
    /// A renewal that is under way in the store, as in [`Beat::Begun`].
    Begun {
        /// The name.
        name: u8,
        /// The fence it names.
        fence: u8,
        /// The new expiry.
        until: Ticks,
    },
    /// A finish, a release, or an `abandon` of a grant whose reply was lost.
    End {
        /// The name.
        name: u8,
        /// The fence it names.
        fence: u8,
    },
}

impl State {
    /// Notes that something was broken.
    pub fn breaks(&mut self, what: Broken) {
        self.broken |= what as u8;
    }

    /// Whether something was broken.
    #[must_use]
    pub fn is_broken(&self, what: Broken) -> bool {
        self.broken & what as u8 != 0
    }

    /// Brings the strays into their order: empty places last.
    pub fn order_strays(&mut self) {
        self.strays.sort_unstable_by(|a, b| b.cmp(a));
    }
}

impl Worker {
    /// A process that has just started.
    pub const IDLE: Self = Self {
        run: Run::Idle,
        guard: Guard::None,
    };

    /// The lease that some `check()` in this process would confirm now: name and fence.
    #[must_use]
    pub fn believes(&self) -> Option<(u8, u8)> {
        match self.run {
            Run::Holding {
                name, fence, trust, ..
            }
            | Run::Ending { name, fence, trust }
                if trust > 0 =>
            {
                Some((name, fence))
            }
            _ => None,
        }
    }
}

impl Row {
    /// Whether a statement that names `fence` is about the run that is under way.
    ///
    /// The protocol compares the owner token as well, fresh per acquisition. While fences increase
    /// (P1), a fence belongs to one token, so the model needs none.
    #[must_use]
    pub fn is_run_by(&self, fence: u8) -> bool {
        self.running && self.fence == fence
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, worker) in self.workers.iter().enumerate() {
            if *worker != Worker::IDLE {
                write!(f, "w{index} {:?}", worker.run)?;
                if worker.guard != Guard::None {
                    write!(f, " + guard {:?}", worker.guard)?;
                }
                write!(f, "; ")?;
            }
        }
        for (name, row) in self.rows.iter().enumerate() {
            if row.granted > 0 {
                let state = if row.running { "running" } else { "ready" };
                let (fence, until, side) = (row.fence, row.until, row.side);
                write!(
                    f,
                    "row {name} {state}, fence {fence}, until {until}, side {side}; "
                )?;
            }
        }
        for stray in self.strays.iter().filter(|stray| **stray != Stray::None) {
            write!(f, "stray {stray:?}; ")?;
        }
        Ok(())
    }
}
