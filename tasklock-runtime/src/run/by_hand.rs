//! A worker that does nothing until a test tells it to, and then the same as any other.
//!
//! It looks for work as the scheduler does, with one slot, and makes the runs that it finds one after the
//! other, as its caller awaits them. Nothing of it looks or waits by itself but the heartbeat, which reads the
//! test's clock as well: what a test moves on, it moves on with (`advance`), or does not (`suspend`).

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinSet;

use super::heartbeat::Heartbeat;
use super::scheduler::Scheduler;
use super::settling::Settling;
use super::worker::Worker;
use crate::error::{Error, StoreError};
use crate::lease::{Clock, HandClock};
use crate::store::{Claim, Wanted};
use crate::task::{Outcome, install_panic_hook};

/// A worker in a test's hands.
pub(crate) struct ByHand {
    scheduler: Mutex<Scheduler>,
    heartbeat: Arc<Heartbeat>,
    clock: Arc<HandClock>,
    /// Writes the ends of the runs, when there are some.
    _writing: JoinSet<()>,
}

impl Worker {
    /// This worker, whose clock and whose store's clock are both moved by `clock`.
    pub(crate) fn by_hand(self, clock: Arc<HandClock>) -> Result<ByHand, Error> {
        install_panic_hook();
        let (scheduler, writing) = self.equip()?;
        let mut writers = JoinSet::new();
        writers.spawn(writing);
        Ok(ByHand {
            heartbeat: Arc::clone(&scheduler.bench.heartbeat),
            scheduler: Mutex::new(scheduler),
            clock,
            _writing: writers,
        })
    }
}

impl ByHand {
    /// Makes the first run that is due; `None` if none is.
    pub(crate) async fn run_next(&self) -> Result<Option<(Claim, Outcome)>, StoreError> {
        let mut scheduler = self.scheduler.lock().await;
        loop {
            let found = scheduler.look(1).await?;
            let known = found.claims.into_iter().find_map(|(claim, sent)| {
                let registration = scheduler.registry.get(&claim.task)?;
                Some((registration, claim, sent))
            });
            let Some((registration, claim, sent)) = known else {
                return Ok(None);
            };
            if let Some(name) = registration.missing_resource(&claim) {
                scheduler.store.assign(&claim.key, &name).await?;
                continue;
            }
            let run = scheduler.grant(registration, claim.clone(), sent, found.now);
            let bench = Arc::clone(&scheduler.bench);
            drop(scheduler);
            let outcome = run.make(&bench).await;
            let (told, ended) = oneshot::channel();
            let rest = Settling::of(run, outcome, None, None, &bench).await;
            rest.tell(told).hand_in();
            let outcome = ended.await.unwrap_or(Outcome::Interrupted);
            return Ok(Some((claim, outcome)));
        }
    }

    /// What it looks for.
    pub(crate) async fn tasks(&self) -> Vec<Wanted> {
        self.scheduler.lock().await.tasks()
    }

    /// Time passes, and every lease that is held is renewed in time.
    pub(crate) async fn advance(&self, time: Duration) {
        let end = self.clock.now() + time;
        loop {
            let next = self.heartbeat.settle().await;
            let left = end.since(self.clock.now());
            if left.is_zero() {
                return;
            }
            self.clock.advance(next.since(self.clock.now()).min(left));
        }
    }

    /// Time passes while the process does nothing: leases are not renewed.
    pub(crate) async fn suspend(&self, time: Duration) {
        self.clock.suspend(time);
        self.heartbeat.settle().await;
    }
}
