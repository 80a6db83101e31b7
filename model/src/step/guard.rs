//! Guarded transactions of the user.

use crate::actions::Action;
use crate::config::{Bug, Config};
use crate::history::{Broken, Event};
use crate::state::{Guard, Guarded, Run, State};
use crate::store;

pub(super) fn take(
    config: &Config,
    state: &mut State,
    worker: usize,
    action: Action,
) -> Option<()> {
    let process = state.workers[worker];
    let next = match (action, process.guard) {
        (Action::AskGuard { ends, .. }, Guard::None) => {
            let Run::Holding { name, fence, .. } = process.run else {
                return None;
            };
            Guard::Asked(Guarded { name, fence, ends })
        }
        (Action::EnterGuard { .. }, Guard::Asked(guarded)) => {
            if store::is_taken(state, guarded.name) {
                return None;
            }
            let row = state.rows[usize::from(guarded.name)];
            let blind = row.running && config.has(Bug::GuardWithoutFence);
            if row.is_run_by(guarded.fence) || blind {
                Guard::Passed(guarded)
            } else {
                state.last = Event::GuardRefused;
                Guard::None
            }
        }
        (Action::CommitGuard { .. }, Guard::Passed(guarded)) => {
            let running = matches!(process.run, Run::Holding { name, fence, .. }
                if (name, fence) == (guarded.name, guarded.fence));
            // A COMMIT that ends the run is sent when the lease is marked as given back, not before.
            if guarded.ends && running {
                return None;
            }
            commit(config, state, worker, guarded);
            Guard::None
        }
        (Action::AbortGuard { .. }, _) => Guard::None,
        _ => return None,
    };
    state.workers[worker].guard = next;
    Some(())
}

fn commit(config: &Config, state: &mut State, worker: usize, guarded: Guarded) {
    let Guarded { name, fence, ends } = guarded;
    let row = state.rows[usize::from(name)];
    if row.granted > fence {
        state.breaks(Broken::Guard);
    }
    if !row.is_run_by(fence) {
        state.breaks(Broken::GuardAfterEnd);
    }
    let trusted = state.workers[worker].believes() == Some((name, fence));
    state.last = match (ends, trusted) {
        (true, _) => Event::Completed,
        (false, true) => Event::GuardCommitted,
        (false, false) => Event::LateGuard,
    };
    if ends && row.running {
        store::end(config, state, name, fence);
    }
}
