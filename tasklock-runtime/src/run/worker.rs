//! A worker's life: start, run, stop.
//!
//! # Stopping
//!
//! 1. No more claims; handlers see `shutdown()`.
//! 2. Runs may end by themselves for `shutdown_grace`. Their leases are renewed all the while, and
//!    their ends written as usual.
//! 3. Then the handlers that are left are dropped, and their leases given back. A handler that blocks
//!    its thread cannot be dropped: its lease is not given back, but expires.
//! 4. The heartbeat ends, last of all; then the connections are closed.
//!
//! Bound: 2 s for a look at the store that is under way + `shutdown_grace` + 5 s for the last writes + 5 s
//! to close connections. A second signal ends
//! the grace period at once. (A blocked handler still holds up the end of the *process* where the
//! application's tokio runtime waits for its threads.)

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::alarm::Alarm;
use super::around::Layers;
use super::completion::Completion;
use super::events::Publisher;
use super::execution::Bench;
use super::heart::Heart;
use super::lanes::{Line, LineOwner};
use super::pace::Pace;
use super::prune;
use super::registry::Registry;
use super::scheduler::Scheduler;
use super::shares::Shares;
use super::signals::Signals;
use super::slots::Slots;
use super::standing;
use super::suspects::Suspects;
use super::turns;
use crate::error::Error;
use crate::lease::{Clock, Moment};
use crate::store::{Looked, Looker, Store, Wake};
use crate::task::{States, install_panic_hook};

/// How long the last writes may take after the handlers were dropped.
const LAST_WRITES: Duration = Duration::from_secs(5);
/// How long the connections may take to close.
const CLOSE: Duration = Duration::from_secs(5);

/// What a worker is told.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) concurrency: usize,
    pub(crate) poll_interval: Duration,
    pub(crate) shutdown_grace: Duration,
    pub(crate) payload_limit: usize,
    pub(crate) handle_signals: bool,
    /// Which version of the program this is, where a task asks for it.
    pub(crate) version: Option<String>,
}

/// A worker that is ready to run.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) heart: Arc<Heart>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) states: Arc<States>,
    pub(crate) layers: Layers,
    pub(crate) events: Publisher,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) stop: CancellationToken,
}

impl Worker {
    /// Runs until `stop`, or a signal; then drains.
    pub(crate) async fn run(self) -> Result<(), Error> {
        install_panic_hook();
        let signals = if self.settings.handle_signals {
            Some(Signals::listen()?)
        } else {
            None
        };
        tracing::info!("the tasks of this program, by name:{}", self.registry);
        tracing::info!(
            store = self.store.name(),
            worker = self.settings.name,
            concurrency = self.settings.concurrency,
            "started"
        );
        let (scheduler, writing) = self.equip()?;
        let writing = tokio::spawn(writing);
        let bench = Arc::clone(&scheduler.bench);
        let hard_stop = bench.hard_stop.clone();
        // In a set, which ends them where the caller drops this future.
        let mut helpers = JoinSet::new();
        let watching = helpers.spawn(self.watch(&bench.alarm, scheduler.looker));
        helpers.spawn(prune::prune(Arc::clone(&self.store)));
        helpers.spawn(standing::look_after(
            Arc::clone(&self.store),
            Arc::clone(&self.registry),
        ));
        let listening = helpers.spawn(obey(
            signals,
            self.settings.shutdown_grace,
            self.stop.clone(),
            hard_stop.clone(),
        ));

        let slots = Arc::clone(&scheduler.slots);
        let mut runs = scheduler.run().await;

        watching.abort();
        let grace = self.settings.shutdown_grace;
        drain(&mut runs, &slots, grace, &hard_stop).await;
        listening.abort();
        drop(runs);
        writing.abort();
        let dead = bench.heartbeat.is_dead();
        // A run that cannot be dropped still holds the bench: its lease is renewed while it goes on.
        if let Some(bench) = Arc::into_inner(bench) {
            self.heart.rest(bench.heartbeat);
        }
        if timeout(CLOSE, self.store.close()).await.is_err() {
            tracing::warn!("the store's connections did not close in time");
        }
        if dead {
            return Err(Error::System {
                what: "the heartbeat thread has died, and with it every lease of this process",
                source: std::io::Error::other("it panicked; the panic stands in the log"),
            });
        }
        tracing::info!("stopped");
        Ok(())
    }

    /// What looks for work and starts it, and what writes how it ended. The heartbeat beats from here on.
    pub(super) fn equip(
        &self,
    ) -> Result<(Scheduler, impl Future<Output = ()> + Send + use<>), Error> {
        let alarm = Arc::new(Alarm::new(Arc::clone(&self.clock)));
        let heartbeat = self.heart.beat()?;
        let (completion, writing) =
            Completion::new(Arc::clone(&self.store), Arc::clone(&self.clock));
        let bench = Bench {
            heartbeat,
            completion,
            alarm: Arc::clone(&alarm),
            clock: Arc::clone(&self.clock),
            states: Arc::clone(&self.states),
            layers: self.layers.clone(),
            events: self.events.clone(),
            stop: self.stop.clone(),
            hard_stop: CancellationToken::new(),
        };
        let looks_ahead = self
            .registry
            .iter()
            .all(|task| !task.definition.counts_from_the_claim());
        let concurrency = self.settings.concurrency;
        let on_demand = self.registry.iter().map(|task| &task.definition);
        let on_demand = on_demand.filter(|task| !task.is_scheduled());
        let shares = Shares::new(
            concurrency,
            self.registry.iter().count(),
            on_demand.map(|task| task.name),
        );
        let scheduler = Scheduler {
            store: Arc::clone(&self.store),
            heart: Arc::clone(&self.heart),
            clock: Arc::clone(&self.clock),
            registry: Arc::clone(&self.registry),
            bench: Arc::new(bench),
            slots: Slots::new(concurrency, looks_ahead, shares, Arc::clone(&alarm)),
            line: LineOwner(Line::new(concurrency)),
            pace: Pace::default(),
            runs: JoinSet::new(),
            suspects: Suspects::new(alarm),
            worker: self.settings.name.clone(),
            poll_interval: self.settings.poll_interval,
            stop: self.stop.clone(),
            in_doubt: Vec::new(),
            swept: None,
            thorough_until: Moment::from_nanos(0),
            looker: turns::looker(&self.registry),
            tells: false,
            others_turn: false,
        };
        Ok((scheduler, writing))
    }

    /// Creates or updates the standing job of each task, so that it can be triggered.
    pub(crate) async fn declare(&self) -> Result<(), Error> {
        let version = self.settings.version.as_deref();
        Ok(standing::declare(&*self.store, &self.registry, version).await?)
    }

    fn watch(&self, alarm: &Arc<Alarm>, own: Looker) -> impl Future<Output = ()> + Send + use<> {
        let (alarm, registry) = (Arc::clone(alarm), Arc::clone(&self.registry));
        self.store.watch(Box::new(move |wake| match wake {
            Wake::Work => alarm.now(),
            Wake::Due { at, task } if registry.get(&task).is_some() => alarm.announced(at),
            Wake::Due { .. } => {}
            Wake::Looked(Looked { looker, .. })
                if looker.worker == own.worker || looker.tasks != own.tasks => {}
            Wake::Looked(looked) => alarm.others_looked(&looked),
            Wake::Live | Wake::Deaf => {
                alarm.set_announced(wake == Wake::Live);
                alarm.now();
            }
        }))
    }
}

/// The first signal stops claiming; the second ends the grace period.
async fn obey(
    signals: Option<Signals>,
    grace: Duration,
    stop: CancellationToken,
    hard_stop: CancellationToken,
) {
    let Some(mut signals) = signals else { return };
    let signal = signals.next().await;
    tracing::info!("{signal}: no more claims, waiting up to {grace:?} for the runs under way");
    stop.cancel();
    let signal = signals.next().await;
    tracing::info!("{signal} again: dropping the runs under way");
    hard_stop.cancel();
}

async fn drain(
    runs: &mut JoinSet<()>,
    slots: &Slots,
    grace: Duration,
    hard_stop: &CancellationToken,
) {
    tokio::select! {
        () = all(runs, slots) => return,
        () = hard_stop.cancelled() => {}
        () = sleep(grace) => {
            tracing::warn!(runs = runs.len(), "the grace period is over: dropping the handlers");
        }
    }
    hard_stop.cancel();
    if timeout(LAST_WRITES, all(runs, slots)).await.is_err() {
        tracing::error!(
            runs = runs.len(),
            "these runs cannot be dropped, for they block their threads, or their ends cannot be \
             written: their leases are not given back, but expire"
        );
    }
}

async fn all(runs: &mut JoinSet<()>, slots: &Slots) {
    while runs.join_next().await.is_some() {}
    slots.all_written().await;
}
