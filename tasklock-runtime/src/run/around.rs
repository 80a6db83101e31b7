//! What an application puts around each run.
//!
//! One point, as plain as it can be: a function of the lease and of the handler, which it runs, or does
//! not. The layers are one future with the handler's in it, so all that holds for the handler's future
//! holds for theirs: the timeout, the abort at a lost lease, a panic, the end of the grace period. Only a
//! thread does not end with its future: a blocking handler goes on where a layer has dropped it, and so the
//! execution waits for its thread apart from them (`Threads`).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::unwind::CatchUnwind;
use crate::lease::{LeaseContext, LeaseLost};
use crate::task::{BoxError, IntoOutcome, Outcome, Registration, RunFuture, RunParts, Threads};

type Layer =
    Arc<dyn Fn(LeaseContext, Handler) -> Pin<Box<dyn Future<Output = Ended> + Send>> + Send + Sync>;

/// The layers of a worker, the outermost first.
#[derive(Clone, Default)]
pub(crate) struct Layers(Arc<Vec<Layer>>);

impl Layers {
    /// Adds one inside of those that are there.
    pub(crate) fn push<F, Fut>(&mut self, layer: F)
    where
        F: Fn(LeaseContext, Handler) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Ended> + Send + 'static,
    {
        let layer: Layer = Arc::new(move |lease, handler| Box::pin(layer(lease, handler)));
        Arc::make_mut(&mut self.0).push(layer);
    }

    /// One run, with all of them around it.
    pub(super) fn handler(
        &self,
        registration: &'static Registration,
        parts: RunParts,
        threads: Option<Threads>,
    ) -> Handler {
        Handler {
            layers: self.clone(),
            inner: 0,
            registration,
            parts,
            threads,
        }
    }
}

impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Layers").field(&self.0.len()).finish()
    }
}

/// The handler of one run, and what else is around it: for a function that
/// [`RuntimeBuilder::around`](crate::RuntimeBuilder::around) was given.
#[must_use = "the handler is not called before `run().await`"]
pub struct Handler {
    layers: Layers,
    /// The next of them.
    inner: usize,
    registration: &'static Registration,
    parts: RunParts,
    /// Of a blocking handler.
    threads: Option<Threads>,
}

impl Handler {
    /// Runs it to its end. A panic in it is an end as well: it does not unwind from here.
    ///
    /// Where the run is aborted, for its lease is lost or its time is over, this does not return: it is
    /// dropped, with whatever awaits it.
    pub async fn run(self) -> Ended {
        let lease = self.parts.lease().clone();
        let outcome = CatchUnwind::start(|| self.start()).await;
        Ended(normalised(&lease, outcome))
    }

    /// Calls the next layer, or the handler itself.
    pub(super) fn start(mut self) -> RunFuture {
        let Some(layer) = self.layers.0.get(self.inner).cloned() else {
            let run = (self.registration.run)(self.parts);
            return match self.threads {
                Some(threads) => threads.watching(run),
                None => run,
            };
        };
        self.inner += 1;
        let ended = layer(self.parts.lease().clone(), self);
        Box::pin(async move { ended.await.0 })
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler")
            .field("task", &self.registration.definition.name)
            .finish_non_exhaustive()
    }
}

/// How a handler has ended, as it will be recorded: if its lease is lost by now, that is what it says,
/// whatever the handler has returned.
///
/// [`Handler::run`] makes it. A function that does not run the handler makes one of a result instead:
/// `Err("closed for maintenance").into()`, or `Err(Snooze::new(d)).into()`, or `Ok::<_, BoxError>(()).into()`.
#[derive(Debug)]
#[must_use = "it is what is recorded: return it"]
pub struct Ended(Outcome);

impl Ended {
    /// How the handler has ended.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.0
    }

    /// Whether it has succeeded.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.0 == Outcome::Succeeded
    }
}

impl<E: Into<BoxError>> From<Result<(), E>> for Ended {
    fn from(result: Result<(), E>) -> Self {
        Self(result.into_outcome())
    }
}

/// Whether the lease was lost is known from the lease, not from what the handler returned.
pub(super) fn normalised(lease: &LeaseContext, outcome: Outcome) -> Outcome {
    if lease.completion().is_done() {
        return Outcome::Succeeded;
    }
    if lease.completion().is_in_doubt() {
        return Outcome::Interrupted;
    }
    match (lease.check(), outcome) {
        (Err(_), Outcome::Interrupted) => Outcome::Interrupted,
        // The row is still ours, unless its lease has expired by now: the store knows.
        (Err(LeaseLost::Cancelled | LeaseLost::TimedOut), Outcome::Succeeded) => Outcome::Succeeded,
        (Err(LeaseLost::TimedOut), outcome @ Outcome::TimedOut(_)) => outcome,
        (Err(LeaseLost::Cancelled), _) => Outcome::Cancelled,
        (Err(lost), _) => Outcome::Lost(lost),
        (Ok(_), outcome) => outcome,
    }
}
