//! Claims and takeovers.

use crate::actions::Action;
use crate::config::{Bug, Config};
use crate::history::Event;
use crate::state::{Beat, Claim, Run, State, Stray};
use crate::store;

pub(super) fn take(
    config: &Config,
    state: &mut State,
    worker: usize,
    action: Action,
) -> Option<()> {
    if let Action::SendClaim { name, late, .. } = action {
        state.workers[worker].run = Run::Claiming {
            name,
            trust: config.trust() + late,
            step: Claim::Sent,
        };
        return Some(());
    }
    let Run::Claiming { name, trust, step } = state.workers[worker].run else {
        return None;
    };
    let row = state.rows[usize::from(name)];
    let go_on = |trust, step| Run::Claiming { name, trust, step };
    let run = match (action, step) {
        (Action::ApplyClaim { .. }, Claim::Sent) => {
            if !row.running && row.fence < config.grants && store::is_free(config, state, name) {
                let fence = store::grant(config, state, name, config.ttl);
                go_on(trust, Claim::Granted { fence })
            } else if store::is_expired(config, &row) && row.fence < config.grants {
                go_on(trust, Claim::Seen)
            } else {
                return None;
            }
        }
        (Action::LockRow { .. }, Claim::Seen) => {
            if !store::is_free(config, state, name) {
                return None;
            }
            if !store::looks_expired(&row) || row.fence >= config.grants {
                Run::Idle
            } else if config.has(Bug::TakeoverInOneStatement) {
                let fence = store::grant(config, state, name, config.ttl);
                go_on(trust, Claim::Granted { fence })
            } else {
                go_on(trust, Claim::Locked { begun: config.ttl })
            }
        }
        (Action::SendTake { late, .. }, Claim::Locked { begun }) => {
            go_on(config.trust() + late, Claim::Writing { begun })
        }
        (Action::Take { .. }, Claim::Locked { begun } | Claim::Writing { begun }) => {
            if store::is_expired(config, &row) {
                state.last = Event::Takeover;
                let fence = store::grant(config, state, name, begun);
                go_on(trust, Claim::Granted { fence })
            } else {
                state.last = Event::LookSaved;
                Run::Idle
            }
        }
        (Action::DeliverClaim { .. }, Claim::Granted { fence }) => {
            let trust = if config.has(Bug::ClaimDeadlineFromReply) {
                config.trust() + config.drift
            } else {
                trust
            };
            if trust > 0 {
                Run::Holding {
                    name,
                    fence,
                    trust,
                    lost: false,
                    beat: Beat::None,
                }
            } else {
                state.last = Event::ClaimTooLate;
                Run::Ending {
                    name,
                    fence,
                    trust: 0,
                }
            }
        }
        (Action::AbandonClaim { .. }, Claim::Granted { fence }) => {
            super::forget(config, state, Stray::End { name, fence });
            Run::Idle
        }
        _ => return None,
    };
    state.workers[worker].run = run;
    Some(())
}
