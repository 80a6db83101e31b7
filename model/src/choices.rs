//! Which steps a state offers.

use crate::actions::Action;
use crate::config::{Bug, Config};
use crate::state::{Beat, Claim, Guard, Run, State, Stray, Ticks, Worker};

/// Collects the steps that are possible in `state`, and some that turn out to change nothing.
pub(crate) fn possible(config: &Config, state: &State, actions: &mut Vec<Action>) {
    actions.push(Action::Tick);
    if state.may_step_back {
        actions.push(Action::StepBack);
    }
    if state.may_step_forward {
        actions.push(Action::StepForward);
    }
    let room = state.strays[..config.strays].contains(&Stray::None);
    for worker in 0..config.workers {
        of_run(config, state, worker, &state.workers[worker], room, actions);
        match state.workers[worker].guard {
            Guard::None => {}
            Guard::Asked(_) => {
                actions.push(Action::EnterGuard { worker });
                actions.push(Action::AbortGuard { worker });
            }
            Guard::Passed(_) => {
                actions.push(Action::CommitGuard { worker });
                actions.push(Action::AbortGuard { worker });
            }
        }
    }
    for (index, stray) in state.strays.iter().enumerate() {
        if *stray != Stray::None {
            actions.push(Action::ApplyStray { index });
        }
    }
}

fn of_run(
    config: &Config,
    state: &State,
    worker: usize,
    process: &Worker,
    room: bool,
    actions: &mut Vec<Action>,
) {
    match process.run {
        Run::Idle => {
            for name in 0..config.names {
                if state.rows[name].fence < config.grants {
                    for late in lateness(config) {
                        let name = u8::try_from(name).unwrap_or_default();
                        actions.push(Action::SendClaim { worker, name, late });
                    }
                }
            }
            return;
        }
        Run::Claiming { step, .. } => match step {
            Claim::Sent => actions.push(Action::ApplyClaim { worker }),
            Claim::Seen => actions.push(Action::LockRow { worker }),
            Claim::Locked { .. } if config.has(Bug::NowOfTransactionStart) => {
                actions.extend(lateness(config).map(|late| Action::SendTake { worker, late }));
            }
            Claim::Locked { .. } | Claim::Writing { .. } => {
                actions.push(Action::Take { worker });
            }
            Claim::Granted { .. } => {
                actions.push(Action::DeliverClaim { worker });
                if room {
                    actions.push(Action::AbandonClaim { worker });
                }
            }
        },
        Run::Holding { trust, beat, .. } => {
            of_beat(config, worker, trust, beat, room, actions);
            // The code looks at its trust before it sends either of these. The store must do without:
            // a pause may follow the look.
            if beat == Beat::None {
                actions.push(Action::SendEnd { worker });
            }
            if config.guards && process.guard == Guard::None {
                actions.push(Action::AskGuard {
                    worker,
                    ends: false,
                });
                if config.complete_in {
                    actions.push(Action::AskGuard { worker, ends: true });
                }
            }
        }
        Run::Ending { .. } => {
            actions.push(Action::ApplyEnd {
                worker,
                replied: true,
            });
            actions.push(Action::ApplyEnd {
                worker,
                replied: false,
            });
            if room {
                actions.push(Action::TimeOutEnd { worker });
            }
        }
    }
    actions.push(Action::Crash { worker });
}

fn of_beat(
    config: &Config,
    worker: usize,
    trust: Ticks,
    beat: Beat,
    room: bool,
    actions: &mut Vec<Action>,
) {
    match beat {
        Beat::None => {
            if trust > 0 && trust <= config.trust() - config.heartbeat {
                actions.extend(lateness(config).map(|late| Action::SendBeat { worker, late }));
            }
            return;
        }
        Beat::Sent { .. } => {
            actions.push(Action::BeginBeat { worker });
            if room {
                actions.push(Action::TimeOutBeat { worker, kept: true });
            }
        }
        Beat::Begun { .. } => {
            actions.push(Action::CommitBeat { worker });
            if room {
                actions.push(Action::TimeOutBeat { worker, kept: true });
            }
        }
        Beat::Answered { .. } => actions.push(Action::DeliverBeat { worker }),
    }
    actions.push(Action::TimeOutBeat {
        worker,
        kept: false,
    });
}

/// How many ticks a local clock may lose while one reading of it is trusted.
///
/// Less than none is not tried: a holder whose clock is fast stops earlier, and nothing forces one
/// whose clock is right to go on.
fn lateness(config: &Config) -> impl Iterator<Item = Ticks> {
    [0, config.drift]
        .into_iter()
        .take(if config.drift > 0 { 2 } else { 1 })
}
