//! What a step does: time here, and a file each for claims, heartbeats, ends, and guards.

mod beat;
mod claim;
mod end;
mod guard;

use crate::actions::Action;
use crate::config::{Bug, Config};
use crate::history::Event;
use crate::state::{Beat, Claim, Run, State, Stray, Ticks};
use crate::store;

/// Takes a step. `None` if it cannot be taken here.
pub(crate) fn take(config: &Config, before: &State, action: Action) -> Option<State> {
    let mut state = before.clone();
    state.last = Event::Other;
    match action {
        Action::Tick | Action::StepBack | Action::StepForward => {
            pass_time(config, &mut state, action);
        }
        Action::SendClaim { worker, .. }
        | Action::ApplyClaim { worker }
        | Action::LockRow { worker }
        | Action::SendTake { worker, .. }
        | Action::Take { worker }
        | Action::DeliverClaim { worker }
        | Action::AbandonClaim { worker } => claim::take(config, &mut state, worker, action)?,
        Action::Crash { worker } => state.workers[worker].run = Run::Idle,
        Action::SendBeat { worker, .. }
        | Action::BeginBeat { worker }
        | Action::CommitBeat { worker }
        | Action::DeliverBeat { worker }
        | Action::TimeOutBeat { worker, .. } => beat::take(config, &mut state, worker, action)?,
        Action::SendEnd { worker }
        | Action::ApplyEnd { worker, .. }
        | Action::TimeOutEnd { worker } => end::take(config, &mut state, worker, action)?,
        Action::AskGuard { worker, .. }
        | Action::EnterGuard { worker }
        | Action::CommitGuard { worker }
        | Action::AbortGuard { worker } => guard::take(config, &mut state, worker, action)?,
        Action::ApplyStray { index } => stray(config, &mut state, index)?,
    }
    if !config.events {
        state.last = Event::Other;
    }
    Some(config.canonical(state))
}

fn pass_time(config: &Config, state: &mut State, action: Action) {
    match action {
        Action::StepBack => {
            state.may_step_back = false;
            store::elapse(config, state, -config.step_back);
        }
        Action::StepForward => {
            state.may_step_forward = false;
            store::elapse(config, state, config.step_forward);
        }
        _ => {
            store::elapse(config, state, 1);
            for worker in &mut state.workers {
                age(config, &mut worker.run);
            }
        }
    }
}

/// A tick in a process: trust runs out, that of replies under way as well.
fn age(config: &Config, run: &mut Run) {
    let less = |ticks: &mut Ticks| *ticks = (*ticks - 1).max(0);
    match run {
        Run::Idle => {}
        Run::Claiming { trust, step, .. } => {
            less(trust);
            if config.has(Bug::NowOfTransactionStart)
                && let Claim::Locked { begun } | Claim::Writing { begun } = step
            {
                less(begun);
            }
        }
        Run::Holding {
            trust, lost, beat, ..
        } => {
            less(trust);
            *lost |= *trust == 0;
            match beat {
                Beat::None => {}
                Beat::Sent { trust } | Beat::Begun { trust, .. } | Beat::Answered { trust, .. } => {
                    less(trust);
                }
            }
        }
        Run::Ending { trust, .. } => less(trust),
    }
}

fn stray(config: &Config, state: &mut State, index: usize) -> Option<()> {
    let next = match state.strays[index] {
        Stray::None => return None,
        Stray::Renewal { name, fence } => match store::begin_renewal(config, state, name, fence) {
            Some(until) => Stray::Begun { name, fence, until },
            None => Stray::None,
        },
        Stray::Begun { name, fence, until } => {
            store::commit_renewal(config, state, name, fence, until);
            state.last = Event::StrayRenewal;
            Stray::None
        }
        Stray::End { name, fence } => {
            if !store::is_free(config, state, name) {
                return None;
            }
            if store::may_end(config, &state.rows[usize::from(name)], fence) {
                store::end(config, state, name, fence);
            } else {
                state.last = Event::StaleEnd;
            }
            Stray::None
        }
    };
    state.strays[index] = next;
    state.order_strays();
    Some(())
}

/// Leaves a statement in flight for which nobody waits.
fn forget(config: &Config, state: &mut State, stray: Stray) {
    if let Some(place) = state.strays[..config.strays]
        .iter_mut()
        .find(|place| **place == Stray::None)
    {
        *place = stray;
    }
    state.order_strays();
}
