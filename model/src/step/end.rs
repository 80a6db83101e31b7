//! Finish and release.

use crate::actions::Action;
use crate::config::{Bug, Config};
use crate::history::Event;
use crate::state::{Run, State, Stray, Ticks};
use crate::store;

pub(super) fn take(
    config: &Config,
    state: &mut State,
    worker: usize,
    action: Action,
) -> Option<()> {
    let run = match (action, state.workers[worker].run) {
        (
            Action::SendEnd { .. },
            Run::Holding {
                name, fence, trust, ..
            },
        ) => ending(config, name, fence, trust),
        (Action::ApplyEnd { replied, .. }, Run::Ending { name, fence, trust }) => {
            // A locked row is skipped, read back, and tried again.
            if !store::is_free(config, state, name) {
                return None;
            }
            if store::may_end(config, &state.rows[usize::from(name)], fence) {
                store::end(config, state, name, fence);
                if replied {
                    Run::Idle
                } else {
                    Run::Ending { name, fence, trust }
                }
            } else {
                state.last = Event::StaleEnd;
                Run::Idle
            }
        }
        (Action::TimeOutEnd { .. }, Run::Ending { name, fence, .. }) => {
            super::forget(config, state, Stray::End { name, fence });
            Run::Idle
        }
        _ => return None,
    };
    state.workers[worker].run = run;
    Some(())
}

/// A run whose end is on its way. The lease is marked as given back *before* that is sent.
fn ending(config: &Config, name: u8, fence: u8, trust: Ticks) -> Run {
    let trust = if config.has(Bug::HandleOutlivesRun) {
        trust
    } else {
        0
    };
    Run::Ending { name, fence, trust }
}
