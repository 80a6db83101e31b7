//! One run, in five steps: guard, run, normalise, settle, report.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::task::unconstrained;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::alarm::Alarm;
use super::around::{Layers, normalised};
use super::completion::{Completion, End, Written};
use super::events::Publisher;
use super::facts::facts;
use super::heartbeat::{Heartbeat, Keeping};
use super::slots::Seat;
use super::unwind::CatchUnwind;
use crate::fault;
use crate::lease::{Clock, LeaseContext, LeaseLost, LeaseStatus, Moment};
use crate::store::{Claim, Finish};
use crate::task::{
    Next, OnLost, Outcome, Registration, RunParts, States, Then, Threads, ThreadsEnd, micros, then,
};

/// What runs share.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) heartbeat: Arc<Heartbeat>,
    pub(super) completion: Completion,
    pub(super) alarm: Arc<Alarm>,
    pub(super) clock: Arc<dyn Clock>,
    /// What the application shares with its handlers.
    pub(super) states: Arc<States>,
    /// What it puts around each of them.
    pub(super) layers: Layers,
    pub(super) events: Publisher,
    /// No run starts any more.
    pub(super) stop: CancellationToken,
    /// The grace period is over: drop what still runs.
    pub(super) hard_stop: CancellationToken,
}

/// A granted claim.
pub(super) struct Run {
    pub(super) registration: &'static Registration,
    pub(super) claim: Claim,
    pub(super) context: LeaseContext,
    pub(super) status: Arc<LeaseStatus>,
    /// Where this run is dropped before its end, the lease is lost with it, and expires.
    pub(super) keeping: Keeping,
    /// The store's clock at the claim, and ours when it was sent.
    pub(super) claimed_at: i64,
    pub(super) granted: Moment,
    /// Whether the loss of its lease was told.
    pub(super) mourned: AtomicBool,
}

impl Run {
    pub(super) async fn execute(self, bench: &Bench, seat: Seat) -> Outcome {
        let span = tracing::info_span!(
            "task",
            task = self.registration.definition.name,
            job = self.claim.key.job,
            attempt = self.claim.attempt,
            fence = self.claim.key.fence,
        );
        self.steps(bench, seat).instrument(span).await
    }

    async fn steps(mut self, bench: &Bench, mut seat: Seat) -> Outcome {
        self.tell_claimed(bench);
        let starts = seat.starts(&bench.stop).await;
        let outcome = match self.guard(&bench.stop, starts) {
            Ok(()) => {
                fault::at("run to start");
                self.tell_started(bench);
                self.run_watched(bench).await
            }
            Err(unstarted) => unstarted,
        };
        fault::at("run ended");
        let outcome = self.normalise(outcome);
        // The slot is for the next one; the end is written with those of others.
        let slots = seat.slots();
        let _unwritten = slots.unwritten().await;
        drop(seat);
        self.tell_lost(bench);
        let (then, written) = self.settle(&outcome, bench).await;
        self.report(&outcome, then, written);
        self.tell_end(&outcome, then, written, bench);
        outcome
    }

    /// A claim that came after its own deadline, after the wish to stop, or to no slot, is not started. It is given
    /// back rather than left to expire: nothing has run under it. Nor is a job started that somebody wants
    /// cancelled, that has taken too many workers down, or that was enqueued for a task which has a schedule
    /// in this program: beside its standing job it would be a second run at once. Another version may take it.
    fn guard(&self, stop: &CancellationToken, starts: bool) -> Result<(), Outcome> {
        if !starts || stop.is_cancelled() {
            return Err(Outcome::Interrupted);
        }
        if let Err(lost) = self.status.check() {
            tracing::warn!(
                reason = lost.as_str(),
                "the claim came too late: not started"
            );
            return Err(Outcome::Interrupted);
        }
        if self.claim.to_cancel {
            return Err(Outcome::Cancelled);
        }
        let definition = &self.registration.definition;
        if self.claim.crashes >= definition.most_crashes() {
            return Err(Outcome::Poisoned(self.claim.crashes));
        }
        if self.claim.resource.is_none()
            && let Some(Err(mistake)) = self.registration.resource_of(self.claim.payload.as_deref())
        {
            return Err(Outcome::Undecodable(mistake));
        }
        if definition.is_scheduled() && !self.claim.standing {
            return Err(Outcome::Undecodable(
                "the task has a schedule in this program, and takes no jobs beside it: `trigger` makes it due"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Runs the handler, and tells meanwhile if the lease is lost: it may go on for long.
    async fn run_watched(&self, bench: &Bench) -> Outcome {
        let mut run = pin!(self.run(bench));
        tokio::select! {
            biased;
            outcome = &mut run => return outcome,
            () = self.status.token().cancelled() => self.tell_lost(bench),
        }
        run.await
    }

    /// Runs the handler until it ends or has to be dropped.
    async fn run(&self, bench: &Bench) -> Outcome {
        let definition = &self.registration.definition;
        let parts = RunParts::new(
            self.context.clone(),
            self.claim.payload.clone(),
            Arc::clone(&bench.states),
        );
        let (threads, ended) = if definition.is_blocking() {
            let (threads, ended) = Threads::new();
            (Some(threads), Some(ended))
        } else {
            (None, None)
        };
        let handler = bench.layers.handler(self.registration, parts, threads);
        let mut handler = CatchUnwind::start(|| handler.start());
        if let Some(threads) = ended {
            return self.run_blocking(handler, threads).await;
        }
        let interrupted = tokio::select! {
            biased;
            outcome = &mut handler => return outcome,
            lost = lost_for(definition.on_lost, &self.context) => Outcome::Lost(lost),
            limit = limit(definition.timeout) => Outcome::TimedOut(limit),
            () = bench.hard_stop.cancelled() => Outcome::Interrupted,
        };
        if let Some(Outcome::Panicked(message)) = handler.cancel() {
            tracing::error!("the handler panicked while it was dropped: {message}");
        }
        interrupted
    }

    /// A thread cannot be stopped: this waits for its end, whatever happens and whatever was dropped, for only
    /// then may the lease end.
    /// At its timeout the lease is lost, which tells the handler, and lets somebody else have the job once it
    /// expires.
    async fn run_blocking(&self, handler: CatchUnwind, threads: ThreadsEnd) -> Outcome {
        let mut run = pin!(async {
            let outcome = handler.await;
            threads.wait().await;
            outcome
        });
        let limit = tokio::select! {
            biased;
            outcome = &mut run => return outcome,
            limit = limit(self.registration.definition.timeout) => limit,
        };
        self.status.lose(LeaseLost::TimedOut);
        tracing::warn!("runs longer than {limit:?}: told so, for a thread cannot be stopped");
        match run.await {
            Outcome::Succeeded => Outcome::Succeeded,
            _ => Outcome::TimedOut(limit),
        }
    }

    /// What the run has come to, given what has become of its lease.
    fn normalise(&self, outcome: Outcome) -> Outcome {
        if self.context.completion().is_done()
            && let Some(error) = outcome.error()
        {
            tracing::warn!(
                "the job was completed in a transaction, what came after is not recorded: {error}"
            );
        }
        normalised(&self.context, outcome)
    }

    /// Stops the renewals, ends the belief of whoever still has a context (a task that the handler has
    /// spawned), and only then writes the end.
    async fn settle(
        &mut self,
        outcome: &Outcome,
        bench: &Bench,
    ) -> (Option<Then>, Option<Written>) {
        self.keeping.forget().await;
        // A lease whose deadline has passed may still be given back: the row decides.
        let lost = self.status.check().err();
        let deadline = self.status.seal().unwrap_or_else(|| match lost {
            // The row is ours for a while: the belief was ended by ourselves, not by its deadline.
            Some(LeaseLost::Cancelled | LeaseLost::TimedOut) => {
                bench.clock.now() + self.registration.definition.timing().ttl / 8
            }
            _ => Moment::from_nanos(0),
        });
        fault::at("lease sealed");
        let definition = &self.registration.definition;
        let run = bench.clock.now().since(self.granted);
        let ended_at = self.claimed_at.saturating_add(micros(run));
        let then = then(
            definition,
            &facts(&self.claim, self.claimed_at, ended_at),
            outcome,
        );
        let resource = self.claim.resource.as_ref();
        let resource = resource.map(|resource| resource.key.clone());
        let end = match (outcome, then) {
            // Whoever holds the job now decides about it.
            (Outcome::Lost(_), _) => return (None, None),
            (_, None) => End::Release(self.claim.key.clone(), resource),
            (_, Some(then)) => End::Finish(Finish {
                key: self.claim.key.clone(),
                then,
                outcome: outcome.as_str(),
                error: outcome.error(),
                hold: definition.hold(),
                frees_place: definition.limit().is_some(),
                resource,
            }),
        };
        let written = if self.context.completion().is_done() {
            if let End::Finish(Finish {
                resource: Some(resource),
                ..
            }) = end
            {
                // The job has ended in the handler's transaction; what waits for its resource is let go here.
                let deadline = bench.clock.now() + definition.timing().ttl / 8;
                let end = End::Release(resource, None);
                let _ = bench.completion.write(end, deadline).await;
            }
            Written::Yes
        } else {
            bench.completion.write(end, deadline).await
        };
        fault::at("end written");
        if written == Written::Yes {
            self.set_alarm(then, bench);
        }
        (then, Some(written))
    }

    /// This worker knows when the job falls due again; it need not be told by the store.
    fn set_alarm(&self, then: Option<Then>, bench: &Bench) {
        if self.registration.definition.limit().is_some() {
            bench.alarm.now();
        }
        match then {
            Some(Then::Slot(Next::At(at))) => bench.alarm.at_store_time(at),
            Some(Then::Slot(Next::In(delay)) | Then::Again(delay, _)) => bench.alarm.within(delay),
            Some(
                Then::Slot(Next::Dormant) | Then::Done(_) | Then::Dead(_) | Then::Cancelled(_),
            ) => {}
            // It was given back, and is due.
            None => bench.alarm.now(),
        }
    }
}

async fn lost_for(on_lost: OnLost, lease: &LeaseContext) -> LeaseLost {
    match on_lost {
        OnLost::Abort => match lease.lost().await {
            // The handler has ended its job by its own hand, or is about to know whether it has.
            _ if lease.completion().may_be_done() => std::future::pending().await,
            lost => lost,
        },
        // The handler ends by itself, or the process does.
        OnLost::Signal | OnLost::Exit => std::future::pending().await,
    }
}

async fn limit(timeout: Option<Duration>) -> Duration {
    match timeout {
        Some(limit) => {
            // The handler is polled first, and may use up the task's budget each time: then a plain timer
            // would never be looked at.
            unconstrained(sleep(limit)).await;
            limit
        }
        None => std::future::pending().await,
    }
}
