//! Renewals, and what a process makes of their answers.

use crate::actions::Action;
use crate::config::{Bug, Config};
use crate::history::Event;
use crate::state::{Beat, Run, State, Stray};
use crate::store;

pub(super) fn take(
    config: &Config,
    state: &mut State,
    worker: usize,
    action: Action,
) -> Option<()> {
    let Run::Holding {
        name,
        fence,
        mut trust,
        lost,
        beat,
    } = state.workers[worker].run
    else {
        return None;
    };
    let beat = match (action, beat) {
        (Action::SendBeat { late, .. }, Beat::None) => Beat::Sent {
            trust: config.trust() + late,
        },
        (Action::BeginBeat { .. }, Beat::Sent { trust }) => {
            match store::begin_renewal(config, state, name, fence) {
                Some(until) => Beat::Begun { trust, until },
                None => Beat::Answered {
                    trust,
                    confirmed: false,
                },
            }
        }
        (Action::CommitBeat { .. }, Beat::Begun { trust, until }) => {
            store::commit_renewal(config, state, name, fence, until);
            Beat::Answered {
                trust,
                confirmed: true,
            }
        }
        (
            Action::DeliverBeat { .. },
            Beat::Answered {
                trust: gained,
                confirmed,
            },
        ) => {
            let gained = if config.has(Bug::BeatDeadlineFromReply) {
                config.trust() + config.drift
            } else {
                gained
            };
            if confirmed && (trust > 0 || config.has(Bug::LossNotSticky)) {
                state.last = Event::Extended;
                trust = trust.max(gained);
            } else if confirmed {
                state.last = Event::LateConfirmation;
            } else if !state.rows[usize::from(name)].is_run_by(fence) {
                state.last = Event::TakenOver;
                trust = 0;
            }
            Beat::None
        }
        (Action::TimeOutBeat { kept, .. }, under_way) => {
            match under_way {
                Beat::Sent { .. } if kept => {
                    super::forget(config, state, Stray::Renewal { name, fence });
                }
                Beat::Begun { until, .. } if kept => {
                    super::forget(config, state, Stray::Begun { name, fence, until });
                }
                Beat::Answered {
                    confirmed: true, ..
                } => state.last = Event::ReplyLost,
                _ => {}
            }
            Beat::None
        }
        _ => return None,
    };
    state.workers[worker].run = Run::Holding {
        name,
        fence,
        trust,
        lost: lost || trust == 0,
        beat,
    };
    Some(())
}
