//! What is told of a run: to the log, and to those who read the events.

use std::sync::atomic::Ordering;

use tasklock_grammar::display_duration;

use super::completion::Written;
use super::events::{Event, EventKind};
use super::execution::{Bench, Run};
use crate::lease::LeaseLost;
use crate::task::{Counts, Outcome, Then};

impl Run {
    /// What became of the job is told with what became of the run: who watches the log for dead jobs finds the
    /// word there.
    pub(super) fn report(&self, outcome: &Outcome, then: Option<Then>, written: Option<Written>) {
        let then = match (written, then) {
            (Some(Written::Yes), Some(Then::Again(delay, _))) => {
                format!("tried again in {}", display_duration(delay))
            }
            (Some(Written::Yes), Some(Then::Dead(_))) => "dead".to_owned(),
            (Some(Written::Yes), Some(Then::Slot(_))) => {
                "not tried again before its next slot".to_owned()
            }
            _ => "ended".to_owned(),
        };
        match outcome {
            Outcome::Succeeded => tracing::debug!("succeeded"),
            Outcome::Failed { error, .. } => tracing::warn!("failed, {then}: {error}"),
            Outcome::Discarded(reason) => tracing::warn!("discarded, {then}: {reason}"),
            Outcome::Snoozed(_) => tracing::debug!("snoozed, {then}"),
            Outcome::Skipped(slots) => {
                tracing::info!(
                    slots,
                    "skipped: missed, and by the task's `missed` or `catch_up` not run"
                );
            }
            Outcome::Undecodable(mistake) => tracing::error!("unreadable, {then}: {mistake}"),
            Outcome::Poisoned(crashes) => tracing::error!(crashes, "poisoned, {then}"),
            Outcome::Cancelled => tracing::info!("cancelled"),
            Outcome::Panicked(message) => tracing::error!("panicked, {then}: {message}"),
            Outcome::TimedOut(limit) => tracing::warn!("ran longer than {limit:?}, {then}"),
            Outcome::Lost(lost) => {
                tracing::warn!(reason = lost.as_str(), "{lost}; nothing is written");
            }
            Outcome::Interrupted => tracing::info!("not run to its end: given back"),
        }
        match written {
            Some(Written::TooLate) => tracing::warn!(
                "the end could not be written while the lease lasted: the job runs again"
            ),
            Some(Written::NotOurs) => tracing::warn!(
                "the end changed no row: the lease had passed to another owner, or an earlier try \
                 was carried out without a reply"
            ),
            Some(Written::Yes) | None => {}
        }
    }

    pub(super) fn tell_claimed(&self, bench: &Bench) {
        let takeover = self.claim.takeover;
        self.tell(bench, || EventKind::Claimed { takeover });
    }

    pub(super) fn tell_started(&self, bench: &Bench) {
        self.tell(bench, || EventKind::Started);
    }

    /// Once, if the lease is lost. One that a run has ended by its own hand is not.
    pub(super) fn tell_lost(&self, bench: &Bench) {
        if let Err(lost) = self.status.check()
            && lost != LeaseLost::Released
            && !self.mourned.swap(true, Ordering::Relaxed)
        {
            self.tell(bench, || EventKind::Lost(lost));
        }
    }

    pub(super) fn tell_end(
        &self,
        outcome: &Outcome,
        then: Option<Then>,
        written: Option<Written>,
        bench: &Bench,
    ) {
        self.tell(bench, || end(outcome, then, written));
    }

    /// The one place where events are made.
    fn tell(&self, bench: &Bench, kind: impl FnOnce() -> EventKind) {
        bench.events.publish(|| Event {
            task: self.registration.definition.name,
            job: self.claim.key.job,
            attempt: self.claim.attempt,
            fence: self.claim.key.fence,
            kind: kind(),
        });
    }
}

/// What the last event of a run says.
fn end(outcome: &Outcome, then: Option<Then>, written: Option<Written>) -> EventKind {
    let error = || outcome.error().unwrap_or_default();
    if let (Outcome::Skipped(slots), Some(Written::Yes)) = (outcome, written) {
        return EventKind::Skipped { slots: *slots };
    }
    match (written, then) {
        (None | Some(Written::NotOurs | Written::TooLate), _) => EventKind::Abandoned,
        (Some(Written::Yes), None) => EventKind::Released,
        (Some(Written::Yes), Some(then)) => match then {
            Then::Done(_) => EventKind::Finished,
            Then::Slot(_) if *outcome == Outcome::Succeeded => EventKind::Finished,
            Then::Slot(_) => EventKind::Failed { error: error() },
            Then::Again(after, Counts::Nothing) => EventKind::Snoozed { after },
            Then::Again(after, Counts::Attempt | Counts::Refusal) => EventKind::Retried {
                after,
                error: error(),
            },
            Then::Dead(_) => EventKind::Dead { error: error() },
            Then::Cancelled(_) => EventKind::Cancelled,
        },
    }
}
