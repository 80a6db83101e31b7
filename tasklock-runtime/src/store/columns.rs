//! What is written of an end, of a new job and of a run's progress, as numbers: the same columns in every database.

use crate::lease::Progress;
use crate::store::{Due, Finish, JobState, span};
use crate::task::{Counts, Next, Then, micros};

/// The first and the last instant that a store tells or writes: the years 1 and 9999. What a row says
/// beyond them, infinity included, is cut to them, so that no sum of instants overflows.
pub(super) const FIRST: i64 = -62_135_596_800_000_000;
pub(super) const LAST: i64 = 253_402_300_799_000_000;

/// What becomes of a job, as the columns of an end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) state: &'static str,
    /// When it falls due again: at this instant, or so long after its end, in microseconds; and for which slot.
    pub(super) next_at: Option<i64>,
    pub(super) next_in: Option<i64>,
    pub(super) slot_at: Option<i64>,
    /// The slots that have passed with it.
    pub(super) missed: i64,
    pub(super) skipped: i64,
    /// What the claim was told that follows, as the row has it.
    pub(super) told_at: Option<i64>,
    pub(super) told_in: Option<i64>,
    /// 0: attempts start anew; 1: this one counts; 2: it does not; 3: it was a refusal.
    pub(super) counts: i16,
    /// How long an ended row stays, and how long after its start the run keeps its place.
    pub(super) keep: Option<i64>,
    pub(super) hold: Option<i64>,
}

impl Columns {
    pub(super) fn of(end: &Finish) -> Self {
        let hold = end.hold.map(span_of);
        let (told_at, told_in) = follows_columns(end.passed.follows);
        let columns = |state: JobState, counts| Self {
            state: state.as_str(),
            next_at: None,
            next_in: None,
            slot_at: None,
            missed: end.passed.missed.into(),
            skipped: end.passed.skipped.into(),
            told_at,
            told_in,
            counts,
            keep: None,
            hold,
        };
        let ended = |state, keep| Self {
            keep: Some(span_of(keep)),
            ..columns(state, 1)
        };
        match end.then {
            Then::Slot(next) => Self {
                next_at: next_at(next),
                next_in: next_in(next),
                slot_at: slot_at(next),
                ..columns(JobState::Ready, 0)
            },
            Then::Again(delay, counts) => Self {
                next_in: Some(span_of(delay)),
                slot_at: end.passed.slot,
                ..columns(
                    JobState::Ready,
                    match counts {
                        Counts::Attempt => 1,
                        Counts::Nothing => 2,
                        Counts::Refusal => 3,
                    },
                )
            },
            Then::Done(keep) => ended(JobState::Done, keep.unwrap_or_default()),
            Then::Dead(keep) => ended(JobState::Dead, keep),
            Then::Cancelled(keep) => ended(JobState::Cancelled, keep),
        }
    }
}

/// Whether nothing is kept of an end. A row that still holds its place stays until it does not.
pub(super) fn goes_away(end: &Finish) -> bool {
    end.then == Then::Done(None) && end.hold.is_none()
}

/// What is written of a run's progress: a number each, both or none.
pub(super) fn progress_columns(progress: Option<Progress>) -> (Option<i64>, Option<i64>) {
    let column = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let columns = progress.map(|progress| (column(progress.done), column(progress.total)));
    columns.unzip()
}

/// What was read of it: half of it is none, and no number is less than zero.
pub(super) fn progress(done: Option<i64>, total: Option<i64>) -> Option<Progress> {
    let number = |column: i64| u64::try_from(column).unwrap_or(0);
    Some(Progress::new(number(done?), number(total?)))
}

/// The instant at which a new job falls due, if it is known.
pub(super) fn due_at(due: Due) -> Option<i64> {
    match due {
        Due::At(at) => Some(at.clamp(FIRST, LAST)),
        Due::In(_) => None,
    }
}

/// How long after it was written a new job falls due, if that is what is known.
pub(super) fn due_in(due: Due) -> Option<i64> {
    match due {
        Due::At(_) => None,
        Due::In(delay) => Some(span_of(delay)),
    }
}

/// Microseconds that can be added to any instant.
fn span_of(duration: std::time::Duration) -> i64 {
    micros(duration).min(LAST)
}

/// The instant at which a job falls due again, if it is known.
fn next_at(next: Next) -> Option<i64> {
    match next {
        Next::At { due, .. } => Some(due.clamp(FIRST, LAST)),
        Next::In(_) | Next::Dormant => None,
    }
}

/// And the slot for which it does.
fn slot_at(next: Next) -> Option<i64> {
    match next {
        Next::At { slot, .. } => Some(slot.clamp(FIRST, LAST)),
        Next::In(_) | Next::Dormant => None,
    }
}

/// What follows a slot of another schedule, as the columns `next_at` and `next_in`: an instant and its jitter, or a delay.
pub(super) fn follows_columns(follows: Option<Next>) -> (Option<i64>, Option<i64>) {
    match follows {
        None => (None, None),
        Some(Next::Dormant) => (None, Some(-1)),
        Some(Next::At { slot, due }) => (Some(slot), Some(due.saturating_sub(slot).max(0))),
        Some(Next::In(delay)) => (None, Some(span_of(delay))),
    }
}

/// What those columns say.
pub(super) fn follows(next_at: Option<i64>, next_in: Option<i64>) -> Option<Next> {
    match (next_at, next_in) {
        (_, Some(delay)) if delay < 0 => Some(Next::Dormant),
        (Some(slot), jitter) => Some(Next::At {
            slot,
            due: slot.saturating_add(jitter.unwrap_or(0)),
        }),
        (None, Some(delay)) => Some(Next::In(span(delay))),
        (None, None) => None,
    }
}

/// How long after its end a job falls due again, in microseconds, if that is what is known.
fn next_in(next: Next) -> Option<i64> {
    match next {
        Next::In(delay) => Some(span_of(delay)),
        Next::At { .. } | Next::Dormant => None,
    }
}
