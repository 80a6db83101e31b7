//! One run, up to the end of its handler, in three steps: guard, run, normalise. What comes after that is in `settling.rs`.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::task::unconstrained;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use super::alarm::Alarm;
use super::around::{Layers, normalised};
use super::completion::Completion;
use super::events::Publisher;
use super::facts::OfSlot;
use super::heartbeat::{Heartbeat, Keeping};
use super::unwind::CatchUnwind;
use crate::fault;
use crate::lease::{Clock, LeaseContext, LeaseLost, LeaseStatus, Moment};
use crate::store::Claim;
use crate::task::{OnLost, Outcome, Registration, RunParts, States, Threads, ThreadsEnd};

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
    /// What it is for, and goes by, if it is its task's standing job.
    pub(super) slot: Option<OfSlot>,
    pub(super) context: LeaseContext,
    pub(super) status: Arc<LeaseStatus>,
    /// Where this run is dropped before its end, the lease is lost with it, and expires.
    pub(super) keeping: Keeping,
    /// The store's clock at the claim, and ours when it was sent.
    pub(super) claimed_at: i64,
    pub(super) granted: Moment,
    /// Whether the loss of its lease was told.
    pub(super) mourned: AtomicBool,
    /// What is logged of it is logged in there.
    pub(super) span: Span,
}

impl Run {
    /// Makes the run, up to the end of its handler.
    pub(super) async fn make(&self, bench: &Bench) -> Outcome {
        self.guarded(bench).instrument(self.span.clone()).await
    }

    async fn guarded(&self, bench: &Bench) -> Outcome {
        let outcome = match self.guard(&bench.stop) {
            Ok(()) => {
                fault::at("run to start");
                self.tell_started(bench);
                self.run_watched(bench).await
            }
            Err(unstarted) => unstarted,
        };
        fault::at("run ended");
        self.normalise(outcome)
    }

    /// A claim that came after its own deadline, or after the wish to stop, is not started. It is given
    /// back rather than left to expire: nothing has run under it. Nor is a job started that somebody wants
    /// cancelled, that has taken too many workers down, a slot that was missed and is to be skipped, or a job that was enqueued for a task which has a schedule
    /// in this program: beside its standing job it would be a second run at once. Another version may take it.
    fn guard(&self, stop: &CancellationToken) -> Result<(), Outcome> {
        if stop.is_cancelled() {
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
        if let Some(slots) = self.slot.as_ref().and_then(OfSlot::skipped) {
            return Err(Outcome::Skipped(slots));
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
            return Box::pin(self.run_blocking(handler, threads)).await;
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
}

async fn lost_for(on_lost: OnLost, lease: &LeaseContext) -> LeaseLost {
    match on_lost {
        OnLost::Abort => match lease.lost_by_deadline().await {
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
