//! The store: what a statement sees, what it locks, what it writes.

use crate::config::{Bug, Config};
use crate::history::{Broken, Event};
use crate::state::{Beat, Claim, Guard, Row, Run, State, Stray, Ticks};

/// Whether a takeover has the row, exclusively.
pub(crate) fn is_taken(state: &State, name: u8) -> bool {
    state.workers.iter().any(|worker| {
        matches!(
            worker.run,
            Run::Claiming {
                name: of,
                step: Claim::Locked { .. } | Claim::Writing { .. },
                ..
            } if of == name
        )
    })
}

/// Whether a guard has the row, against everybody but renewals and other guards.
pub(crate) fn is_guarded(config: &Config, state: &State, name: u8) -> bool {
    !config.has(Bug::GuardWithoutLock)
        && state
            .workers
            .iter()
            .any(|worker| matches!(worker.guard, Guard::Passed(guarded) if guarded.name == name))
}

/// Whether a renewal has the row, against takeovers and ends.
fn is_renewed(config: &Config, state: &State, name: u8) -> bool {
    let waited_for = state.workers.iter().any(|worker| {
        matches!(
            worker.run,
            Run::Holding {
                name: of,
                beat: Beat::Begun { .. },
                ..
            } if of == name
        )
    });
    let stray = state
        .strays
        .iter()
        .any(|stray| matches!(stray, Stray::Begun { name: of, .. } if *of == name));
    (waited_for || stray) && !config.has(Bug::RenewalWithoutLock)
}

/// Whether `FOR UPDATE` would get the row at once.
pub(crate) fn is_free(config: &Config, state: &State, name: u8) -> bool {
    !is_taken(state, name) && !is_guarded(config, state, name) && !is_renewed(config, state, name)
}

/// Whether the row's lease has expired, by both rows.
///
/// It has at `until` itself, not only after it: two readings one tick apart may be of instants that
/// are hardly apart at all. The statements use `<`, and err to the safe side.
pub(crate) fn is_expired(config: &Config, row: &Row) -> bool {
    looks_expired(row) && (row.side <= 0 || config.has(Bug::TakeoverIgnoresSideRow))
}

/// Whether the row's lease has expired as far as the job row tells.
pub(crate) fn looks_expired(row: &Row) -> bool {
    row.running && row.until <= 0
}

/// Commits a claim or takeover. `until` is the lock's end.
pub(crate) fn grant(config: &Config, state: &mut State, name: u8, until: Ticks) -> u8 {
    let floor = config.floor(state.may_step_back);
    let row = &mut state.rows[usize::from(name)];
    let fence = row.fence + 1;
    let fresh = fence > row.granted;
    let apart = row.promised <= 0 && row.past <= 0;
    *row = Row {
        fence,
        running: true,
        until,
        // A side row of an older fence stays behind, and counts for nothing.
        side: floor,
        granted: row.granted.max(fence),
        promised: until,
        // The interval of a run that was taken over ended when it expired.
        past: row.past.max(row.promised).max(floor),
    };
    if !fresh {
        state.breaks(Broken::Fence);
    }
    if !apart {
        state.breaks(Broken::Interval);
    }
    fence
}

/// Begins a renewal: the expiry that it is going to write, or nothing, for the row is not that run's
/// any more, or a takeover has it.
pub(crate) fn begin_renewal(
    config: &Config,
    state: &mut State,
    name: u8,
    fence: u8,
) -> Option<Ticks> {
    if is_taken(state, name) && !config.has(Bug::RenewalWithoutLock) {
        state.last = Event::Busy;
        return None;
    }
    state.rows[usize::from(name)]
        .is_run_by(fence)
        .then_some(config.ttl)
}

/// Commits a renewal. Never backwards.
pub(crate) fn commit_renewal(
    config: &Config,
    state: &mut State,
    name: u8,
    fence: u8,
    until: Ticks,
) {
    if is_guarded(config, state, name) {
        state.last = Event::BeatBesideGuard;
    }
    let row = &mut state.rows[usize::from(name)];
    if row.is_run_by(fence) {
        row.side = if config.has(Bug::RenewalBackwards) {
            until
        } else {
            row.side.max(until)
        };
        row.promised = row.promised.max(until);
    } else if row.granted > fence && until > 0 {
        // It is confirmed all the same, and the side row of a spent fence counts for nothing.
        state.breaks(Broken::Interval);
    }
}

/// Whether an end that names `fence` finds its row.
pub(crate) fn may_end(config: &Config, row: &Row, fence: u8) -> bool {
    row.is_run_by(fence) || (row.running && config.has(Bug::FinishWithoutFence))
}

/// Commits an end that was written by the owner of `fence`.
pub(crate) fn end(config: &Config, state: &mut State, name: u8, fence: u8) {
    let floor = config.floor(state.may_step_back);
    let row = &mut state.rows[usize::from(name)];
    let rightful = row.is_run_by(fence);
    row.running = false;
    row.until = floor;
    row.side = floor;
    // Given back now, or expired before that.
    row.past = row.past.max(row.promised.min(0)).max(floor);
    row.promised = floor;
    if config.has(Bug::FenceRestarts) {
        row.fence = 0;
    }
    if !rightful {
        state.breaks(Broken::End);
    }
}

/// The store's clock goes forward by `ticks`, which is negative when it is set back.
pub(crate) fn elapse(config: &Config, state: &mut State, ticks: Ticks) {
    let floor = config.floor(state.may_step_back);
    for row in &mut state.rows {
        for instant in [
            &mut row.until,
            &mut row.side,
            &mut row.promised,
            &mut row.past,
        ] {
            *instant = (*instant - ticks).max(floor);
        }
    }
    for worker in &mut state.workers {
        if let Run::Holding {
            beat: Beat::Begun { until, .. },
            ..
        } = &mut worker.run
        {
            *until = (*until - ticks).max(floor);
        }
    }
    for stray in &mut state.strays {
        if let Stray::Begun { until, .. } = stray {
            *until = (*until - ticks).max(floor);
        }
    }
    state.order_strays();
}
