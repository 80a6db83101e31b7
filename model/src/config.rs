//! The bounds of an instance, the assumptions it grants, and the faults that can be built in.

use crate::history::Event;
use crate::state::{
    Guard, MAX_NAMES, MAX_STRAYS, MAX_WORKERS, Row, Run, State, Stray, Ticks, Worker,
};

/// An instance of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Processes, up to [`MAX_WORKERS`].
    pub workers: usize,
    /// Lease names, up to [`MAX_NAMES`].
    pub names: usize,
    /// Grants per name after which nobody claims it any more.
    pub grants: u8,
    /// Statements in flight that nobody waits for, up to [`MAX_STRAYS`].
    pub strays: usize,
    /// How long the store keeps a lock, in ticks of its clock.
    pub ttl: Ticks,
    /// By how much a holder's trust is shorter than the ttl.
    pub margin: Ticks,
    /// A lease is renewed when its confirmation is at least this old; 0: at any time.
    pub heartbeat: Ticks,
    /// Assumption on rates: how many ticks a local clock may lose within one ttl.
    pub drift: Ticks,
    /// Assumption on the store's clock: by how much it may step back, once; 0: never.
    pub step_back: Ticks,
    /// Assumption on the store's clock: by how much it may step forward, once; 0: never.
    pub step_forward: Ticks,
    /// Whether guarded transactions are part of the instance.
    pub guards: bool,
    /// Whether guarded transactions may also end their run.
    pub complete_in: bool,
    /// Whether states that differ only in the numbers of workers and names count as one.
    pub symmetry: bool,
    /// Whether states record what happened last, and the *sometimes* properties are checked.
    pub events: bool,
    /// The faults that are built in.
    pub bugs: &'static [Bug],
}

/// A way to get the protocol wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bug {
    /// A renewal's deadline counts from its reply, on a clock as slow as may be.
    BeatDeadlineFromReply,
    /// A claim's deadline counts from its reply, on a clock as slow as may be.
    ClaimDeadlineFromReply,
    /// Finish and release do not compare the fence.
    FinishWithoutFence,
    /// The guard does not compare the fence.
    GuardWithoutFence,
    /// The guard reads the row without locking it.
    GuardWithoutLock,
    /// A confirmation that arrives after the deadline revives the lease.
    LossNotSticky,
    /// The takeover looks at the job row's own expiry only.
    TakeoverIgnoresSideRow,
    /// The takeover reads the side row in the snapshot that precedes its lock.
    TakeoverInOneStatement,
    /// The renewal reads the job row without locking it.
    RenewalWithoutLock,
    /// The renewal writes the expiry that it computed, be it earlier than the one that is there.
    RenewalBackwards,
    /// A takeover's lock is counted from its transaction's start, its trust from the statement.
    NowOfTransactionStart,
    /// A finished run's row is pruned, and the fence begins anew.
    FenceRestarts,
    /// The end of a run does not end the trust of handles that outlive the handler.
    HandleOutlivesRun,
}

impl Config {
    /// The instance from which the others are made: two workers, one name, three grants.
    #[must_use]
    pub fn small() -> Self {
        Self {
            workers: 2,
            names: 1,
            grants: 3,
            strays: 1,
            ttl: 3,
            margin: 1,
            heartbeat: 1,
            drift: 1,
            step_back: 0,
            step_forward: 0,
            guards: true,
            complete_in: true,
            symmetry: true,
            events: false,
            bugs: &[],
        }
    }

    /// Says what is out of bounds.
    ///
    /// # Errors
    ///
    /// A sentence about the first field that is.
    pub fn validate(&self) -> Result<(), String> {
        let bounded = [
            ("workers", self.workers, 1, MAX_WORKERS),
            ("names", self.names, 1, MAX_NAMES),
            ("strays", self.strays, 0, MAX_STRAYS),
            ("grants", usize::from(self.grants), 1, 100),
        ];
        for (what, value, least, most) in bounded {
            if !(least..=most).contains(&value) {
                return Err(format!("{what} must be {least} to {most}, not {value}"));
            }
        }
        let timed = [
            ("ttl", self.ttl, 1),
            ("margin", self.margin, 0),
            ("heartbeat", self.heartbeat, 0),
            ("drift", self.drift, 0),
            ("step_back", self.step_back, 0),
            ("step_forward", self.step_forward, 0),
        ];
        for (what, value, least) in timed {
            if !(least..=30).contains(&value) {
                return Err(format!("{what} must be {least} to 30 ticks, not {value}"));
            }
        }
        if self.margin >= self.ttl {
            return Err("the margin must be shorter than the ttl".into());
        }
        Ok(())
    }

    /// How long an acknowledgement is trusted, on the local clock.
    #[must_use]
    pub fn trust(&self) -> Ticks {
        self.ttl - self.margin
    }

    /// Whether `bug` is built in.
    #[must_use]
    pub fn has(&self, bug: Bug) -> bool {
        self.bugs.contains(&bug)
    }

    /// The earliest instant that the store's clock can still tell from those before it: what has
    /// passed is one and the same, unless the clock may yet step back.
    #[must_use]
    pub fn floor(&self, may_step_back: bool) -> Ticks {
        if may_step_back { -self.step_back } else { 0 }
    }

    /// Where everything begins: nobody has run anything.
    #[must_use]
    pub fn initial(&self) -> State {
        let may_step_back = self.step_back > 0;
        let floor = self.floor(may_step_back);
        let row = Row {
            fence: 0,
            running: false,
            until: floor,
            side: floor,
            granted: 0,
            promised: floor,
            past: floor,
        };
        State {
            workers: [Worker::IDLE; MAX_WORKERS],
            rows: [row; MAX_NAMES],
            strays: [Stray::None; MAX_STRAYS],
            may_step_back,
            may_step_forward: self.step_forward > 0,
            broken: 0,
            last: Event::Other,
        }
    }

    /// One of the states that differ from this one only in the numbers of workers and names.
    #[must_use]
    pub fn canonical(&self, mut state: State) -> State {
        if !self.symmetry {
            return state;
        }
        state.workers[..self.workers].sort_unstable();
        if self.names < 2 {
            return state;
        }
        let mut other = swapped(&state);
        other.workers[..self.workers].sort_unstable();
        state.min(other)
    }
}

/// The state with its two names exchanged.
fn swapped(state: &State) -> State {
    let mut state = state.clone();
    state.rows.swap(0, 1);
    for worker in &mut state.workers {
        match &mut worker.run {
            Run::Idle => {}
            Run::Claiming { name, .. } | Run::Holding { name, .. } | Run::Ending { name, .. } => {
                *name = 1 - *name;
            }
        }
        match &mut worker.guard {
            Guard::None => {}
            Guard::Asked(guarded) | Guard::Passed(guarded) => guarded.name = 1 - guarded.name,
        }
    }
    for stray in &mut state.strays {
        match stray {
            Stray::None => {}
            Stray::Renewal { name, .. } | Stray::Begun { name, .. } | Stray::End { name, .. } => {
                *name = 1 - *name;
            }
        }
    }
    state.order_strays();
    state
}
