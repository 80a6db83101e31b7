//! What is left to do of a run whose handler has ended: settle, report.
//!
//! Its renewals end, and with them the belief of whoever still has its context; only then its end is written, with
//! those of others (`completion.rs`), and when that is known it is told. Nothing waits for it but who is counted as
//! unwritten: the slot has gone on to the next run.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::completion::{End, Written};
use super::execution::{Bench, Run};
use super::facts::{facts, passed};
use super::slots::Unwritten;
use super::suspects::Trial;
use crate::fault;
use crate::lease::{LeaseLost, Moment};
use crate::store::Finish;
use crate::task::{Next, Outcome, Then, micros, then};

pub(super) struct Settling {
    run: Box<Run>,
    outcome: Outcome,
    then: Option<Then>,
    /// What is to be written, and until when it may be.
    end: Option<(End, Moment)>,
    /// Its handler has ended the job in a transaction of its own.
    is_completed: bool,
    bench: Arc<Bench>,
    told: Option<oneshot::Sender<Outcome>>,
    /// These last until the end is written.
    _lasting: (Option<Unwritten>, Option<Trial>),
}

impl Settling {
    /// Stops the renewals, ends the belief of whoever still has a context (a task that the handler has
    /// spawned), and finds out what is to be written.
    pub(super) async fn of(
        mut run: Box<Run>,
        outcome: Outcome,
        unwritten: Option<Unwritten>,
        trial: Option<Trial>,
        bench: &Arc<Bench>,
    ) -> Self {
        run.tell_lost(bench);
        run.keeping.forget().await;
        // A lease whose deadline has passed may still be given back: the row decides.
        let lost = run.status.check().err();
        let deadline = run.status.seal().unwrap_or_else(|| match lost {
            // The row is ours for a while: the belief was ended by ourselves, not by its deadline.
            Some(LeaseLost::Cancelled | LeaseLost::TimedOut) => run.a_while(bench),
            _ => Moment::from_nanos(0),
        });
        fault::at("lease sealed");
        let mut settling = Self {
            then: None,
            end: None,
            is_completed: run.context.completion().is_done(),
            bench: Arc::clone(bench),
            told: None,
            _lasting: (unwritten, trial),
            outcome,
            run,
        };
        // Whoever holds the job now decides about it.
        if !matches!(settling.outcome, Outcome::Lost(_)) {
            settling.decide(deadline);
        }
        settling
    }

    fn decide(&mut self, deadline: Moment) {
        let run = &self.run;
        let definition = &run.registration.definition;
        let took = self.bench.clock.now().since(run.granted);
        let ended_at = run.claimed_at.saturating_add(micros(took));
        let facts = facts(&run.claim, run.slot.as_ref(), ended_at);
        self.then = then(definition, &facts, &self.outcome);
        // Nothing was started.
        let is_skipped = matches!(self.outcome, Outcome::Skipped(_));
        let resource = run.claim.resource.as_ref();
        let resource = resource.map(|resource| resource.key.clone());
        self.end = match (self.then, self.is_completed) {
            // The job has ended in the handler's transaction; what waits for its resource is let go here.
            (_, true) => {
                let until = run.a_while(&self.bench);
                resource.map(|resource| (End::Release(resource, None), until))
            }
            (None, _) => Some((End::Release(run.claim.key.clone(), resource), deadline)),
            (Some(then), _) => {
                let finish = Finish {
                    key: run.claim.key.clone(),
                    then,
                    outcome: self.outcome.as_str(),
                    error: self.outcome.error(),
                    hold: definition.hold().filter(|_| !is_skipped),
                    frees_place: definition.limit().is_some(),
                    resource,
                    passed: passed(run.slot.as_ref(), &facts, then),
                };
                Some((End::Finish(finish), deadline))
            }
        };
    }

    /// Tells this of the outcome, too.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn tell(mut self, told: oneshot::Sender<Outcome>) -> Self {
        self.told = Some(told);
        self
    }

    /// Sees to the rest.
    pub(super) fn hand_in(mut self) {
        match self.end.take() {
            Some((end, deadline)) => {
                let completion = self.bench.completion.clone();
                completion.write_for(end, deadline, Box::new(self));
            }
            None => self.conclude(None),
        }
    }

    /// It is known whether the end was written.
    pub(super) fn conclude(self, written: Option<Written>) {
        let written = if self.is_completed {
            Some(Written::Yes)
        } else {
            written
        };
        fault::at("end written");
        if written == Some(Written::Yes) {
            self.set_alarm();
        }
        let (outcome, then) = (&self.outcome, self.then);
        self.run
            .span
            .in_scope(|| self.run.report(outcome, then, written));
        self.run.tell_end(outcome, then, written, &self.bench);
        if let Some(told) = self.told {
            let _ = told.send(self.outcome);
        }
    }

    /// This worker knows when the job falls due again; it need not be told by the store.
    fn set_alarm(&self) {
        let alarm = &self.bench.alarm;
        if self.run.registration.definition.limit().is_some() {
            alarm.now();
        }
        match self.then {
            Some(Then::Slot(Next::At { due, .. })) => {
                alarm.at_store_time(due);
                alarm.announced(due);
            }
            Some(Then::Slot(Next::In(delay)) | Then::Again(delay, _)) => alarm.within(delay),
            Some(
                Then::Slot(Next::Dormant) | Then::Done(_) | Then::Dead(_) | Then::Cancelled(_),
            ) => {}
            // It was given back, and is due.
            None => alarm.now(),
        }
    }
}

impl Run {
    fn a_while(&self, bench: &Bench) -> Moment {
        bench.clock.now() + self.registration.definition.timing().ttl / 8
    }
}
