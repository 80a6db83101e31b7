//! P1 to P6 as *always* properties, and the events that make them worth something as *sometimes*
//! properties.
//!
//! P1, P2, P4 and P6 speak of the moment of a step: the step compares, and leaves a bit. P3 and P5
//! speak of what `check()` would say, and can be read off any state.

use std::sync::atomic::{AtomicU32, Ordering};

use stateright::{Model, Property};

use crate::actions::Action;
use crate::choices::possible;
use crate::config::Config;
use crate::history::{Broken, Event};
use crate::state::{Run, State, Worker};
use crate::step;

/// P1. Per name, fences strictly increase in the order of commits.
pub const FENCE: &str = "P1 fence";
/// P2. On the store's clock, the intervals [acquired, released or expired] of a name never overlap.
pub const INTERVALS: &str = "P2 intervals";
/// P3. Once a later acquisition of the name has committed, no `check()` of an earlier one succeeds.
pub const EARLY_LOSS: &str = "P3 early loss";
/// P4. No guarded transaction with fence f commits after a fence f' > f was granted.
pub const GUARD: &str = "P4 guard";
/// P4, and more: none commits after its own run has ended, either.
pub const GUARD_END: &str = "P4 guard, own end";
/// P5. A lease that was lost stays lost.
pub const STICKY: &str = "P5 sticky";
/// P6. A run is ended once at most, and only under its own fence.
pub const ONE_END: &str = "P6 one end";

/// The *always* properties.
pub const SAFETY: [&str; 7] = [
    FENCE, INTERVALS, EARLY_LOSS, GUARD, GUARD_END, STICKY, ONE_END,
];

/// What must be reachable, or the *always* properties would say little.
pub const REACHABLE: [&str; 15] = [
    "a lease was taken over",
    "a takeover's second look saved a renewed lease",
    "a grant came too late and was given back",
    "a renewal moved the deadline",
    "a renewal was carried out and its reply lost",
    "a confirmation came after the deadline",
    "a renewal found a takeover on its row",
    "a renewal found another owner",
    "a forgotten renewal was carried out",
    "a stale end changed nothing",
    "a stale guard was refused",
    "a guarded transaction committed",
    "a guarded transaction committed whose process had lost trust",
    "a guarded transaction ended its run",
    "a renewal went on beside a guard",
];

/// An instance under search.
///
/// The checker reports the *last* state that breaks a property. The shortest trace leads to the first,
/// so a property that was broken once is not evaluated again.
#[derive(Debug)]
pub struct Instance {
    config: Config,
    found: AtomicU32,
}

impl Instance {
    /// An instance of which nothing is known.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            config,
            found: AtomicU32::new(0),
        }
    }

    /// Whether this is the first time that `number` was `seen`.
    fn first(&self, number: u32, seen: bool) -> bool {
        let bit = 1 << number;
        seen && self.found.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }
}

macro_rules! always {
    ($number:literal, $name:ident, $broken:expr) => {
        Property::always($name, |instance: &Instance, state: &State| {
            let broken: fn(&State) -> bool = $broken;
            !instance.first($number, broken(state))
        })
    };
}

macro_rules! sometimes {
    ($($number:literal $event:ident,)*) => {
        [$(Property::sometimes(REACHABLE[$number], |instance: &Instance, state: &State| {
            instance.first(16 + $number, state.last == Event::$event)
        })),*]
    };
}

impl Model for Instance {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.config.initial()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        possible(&self.config, state, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        step::take(&self.config, state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            always!(0, FENCE, |state| state.is_broken(Broken::Fence)),
            always!(1, INTERVALS, |state| state.is_broken(Broken::Interval)),
            always!(2, EARLY_LOSS, is_trusted_beside_another),
            always!(3, GUARD, |state| state.is_broken(Broken::Guard)),
            always!(4, GUARD_END, |state| state.is_broken(Broken::GuardAfterEnd)),
            always!(5, STICKY, is_revived),
            always!(6, ONE_END, |state| state.is_broken(Broken::End)),
        ];
        if self.config.events {
            properties.extend(sometimes! {
                0 Takeover,
                1 LookSaved,
                2 ClaimTooLate,
                3 Extended,
                4 ReplyLost,
                5 LateConfirmation,
                6 Busy,
                7 TakenOver,
                8 StrayRenewal,
                9 StaleEnd,
                10 GuardRefused,
                11 GuardCommitted,
                12 LateGuard,
                13 Completed,
                14 BeatBesideGuard,
            });
        }
        properties
    }
}

/// Whether some `check()` succeeds under a fence although a greater one was granted.
fn is_trusted_beside_another(state: &State) -> bool {
    state
        .workers
        .iter()
        .filter_map(Worker::believes)
        .any(|(name, fence)| state.rows[usize::from(name)].granted > fence)
}

/// Whether some `check()` succeeds that has failed before.
fn is_revived(state: &State) -> bool {
    state
        .workers
        .iter()
        .any(|worker| matches!(worker.run, Run::Holding { trust, lost, .. } if lost && trust > 0))
}
