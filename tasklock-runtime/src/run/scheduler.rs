//! Looks for work when there may be some, and starts it.
//!
//! One loop a process. It claims for the slots that are free, and ahead where runs are short (`slots.rs`), while the runs
//! of the claim before go on; and it sleeps until the store says that something can happen: the earliest due
//! time, or the earliest expiry of a lease that somebody else holds. Announcements of the store,
//! ends of this process's own runs, and the poll interval bring that forward. It never asks in a
//! circle: what is due but cannot be taken (another worker is at it) is asked for again after a pause
//! that doubles.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::execution::Bench;
use super::heart::Heart;
use super::lanes::{LineOwner, Waiting};
use super::pace::Pace;
use super::registry::Registry;
use super::slots::{PATIENCE, Slots};
use super::standing;
use super::suspects::Suspects;
use crate::error::StoreErrorKind;
use crate::lease::{Clock, Moment, OwnerToken};
use crate::store::{Claim, Looker, Store};
use crate::task::micros;

const CALL: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LAST_RETRY: Duration = Duration::from_secs(10);
/// How long a look that is under way may hold up the stop, and then the giving back of its claim.
const LAST_LOOK: Duration = Duration::from_secs(1);
/// Where announcements arrive, polling is a safety net, and this much rarer.
const NET: u32 = 10;

pub(super) struct Scheduler {
    pub(super) store: Arc<dyn Store>,
    pub(super) heart: Arc<Heart>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) registry: Arc<Registry>,
    pub(super) bench: Arc<Bench>,
    pub(super) slots: Arc<Slots>,
    pub(super) line: LineOwner,
    pub(super) pace: Pace,
    pub(super) runs: JoinSet<()>,
    pub(super) suspects: Suspects,
    pub(super) worker: String,
    pub(super) poll_interval: Duration,
    /// Stop claiming; also what handlers see as the shutdown.
    pub(super) stop: CancellationToken,
    /// Claims whose reply was lost.
    pub(super) in_doubt: Vec<OwnerToken>,
    /// When this last looked for parked jobs whose resource nobody holds.
    pub(super) swept: Option<Moment>,
    /// Until then nothing expires that was there when expired leases were looked for last.
    pub(super) thorough_until: Moment,
    /// What others know this worker by.
    pub(super) looker: Looker,
    /// Whether they are to hear of what this look finds.
    pub(super) tells: bool,
    /// The next claim is for those tasks alone whose runs are short.
    pub(super) others_turn: bool,
}

impl Scheduler {
    /// Runs until `stop`; answers the runs that are still under way.
    pub(super) async fn run(mut self) -> JoinSet<()> {
        let mut pause = FIRST_PAUSE;
        let mut retry = FIRST_RETRY;
        let mut failing: Option<StoreErrorKind> = None;
        let stop = self.stop.clone();
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                () = self.line.0.overdue() => {
                    if self.line.0.give_back(PATIENCE, &self.bench).await {
                        self.slots.slow_down();
                    }
                    continue;
                }
                () = self.ready() => {}
            }
            self.pace.set(&self.slots, self.clock.now());
            if !self.slots.is_worth_a_claim() {
                continue;
            }
            if self.bench.heartbeat.is_dead() {
                self.stop.cancel();
                break;
            }
            while self.runs.try_join_next().is_some() {}
            let in_turn = self.bench.alarm.clear();
            self.tells = in_turn && self.bench.alarm.is_announced();
            let room = self.slots.room();
            let found = tokio::select! {
                biased;
                found = self.look(room) => found,
                // A store that does not answer must not hold up the stop: the claim is in doubt.
                () = async { stop.cancelled().await; sleep(LAST_LOOK).await } => break,
            };
            match found {
                Ok(batch) => {
                    let failed = failing.take();
                    if failed.is_some() {
                        tracing::info!("the store answers again");
                    }
                    retry = FIRST_RETRY;
                    let found = !batch.claims.is_empty() || batch.parked;
                    let gone = !found && standing::is_gone(&self.registry, batch.wait);
                    let wait = batch.wait.unwrap_or(Duration::MAX);
                    pause = if found || !wait.is_zero() {
                        FIRST_PAUSE
                    } else {
                        (pause * 2).min(self.poll_interval)
                    };
                    let now = batch.now;
                    if in_turn && found {
                        self.bench.alarm.found_in_turn();
                    }
                    self.start_all(batch.claims, now);
                    if gone || failed == Some(StoreErrorKind::Schema) {
                        self.restore().await;
                    }
                    let least = if found { Duration::ZERO } else { pause };
                    self.next_look(now, wait, least);
                }
                Err(error) => {
                    if failing.replace(error.kind()) != Some(error.kind()) {
                        tracing::error!("looking for work failed, trying again: {error}");
                    }
                    self.bench.alarm.within(retry);
                    retry = (retry * 2).min(self.poll_interval.clamp(FIRST_RETRY, LAST_RETRY));
                }
            }
        }
        self.line.0.give_back(Duration::ZERO, &self.bench).await;
        let _ = timeout(LAST_LOOK, self.resolve_doubts()).await;
        self.runs
    }

    /// Brings standing jobs back that have gone from the store. Where it fails the next look tries again.
    async fn restore(&self) {
        let restoring = timeout(CALL, standing::restore(&*self.store, &self.registry));
        let restored = tokio::select! {
            restored = restoring => restored,
            () = self.stop.cancelled() => return,
        };
        match restored {
            Ok(Ok(0)) => {}
            Ok(Ok(tasks)) => {
                tracing::warn!(
                    tasks,
                    "standing jobs had gone from the store: declared anew"
                );
            }
            Ok(Err(error)) => tracing::debug!("standing jobs are not brought back: {error}"),
            Err(_) => tracing::debug!("standing jobs are not brought back: no answer"),
        }
    }

    /// Sets the alarm, having heard `now`, by the store's clock, that something happens after this wait.
    fn next_look(&self, now: i64, wait: Duration, least: Duration) {
        let alarm = &self.bench.alarm;
        let wait = wait.max(least);
        let mut next = None;
        if wait == least {
            // It is there already: this worker's own affair.
            alarm.within(wait);
        } else if wait < self.poll() {
            next = Some(now.saturating_add(micros(wait)));
        }
        alarm.saw(now, next);
        alarm.within(self.poll());
    }

    /// The longest that nothing is asked.
    fn poll(&self) -> Duration {
        if self.bench.alarm.is_announced() {
            self.poll_interval.saturating_mul(NET)
        } else {
            self.poll_interval
        }
    }

    /// There may be work, and room for it.
    async fn ready(&self) {
        self.bench.alarm.rung().await;
        self.slots.worth_a_claim().await;
        self.bench.heartbeat.stays().await;
    }

    fn start_all(&mut self, claims: Vec<(Claim, Moment)>, claimed_at: i64) {
        let mut runs = Vec::with_capacity(claims.len());
        let since = Instant::now();
        for (claim, sent) in claims {
            let Some(registration) = self.registry.get(&claim.task) else {
                continue;
            };
            let seat = self.slots.seat(&claim.task);
            let Some((claim, seat)) = self.equipped(registration, claim, seat, sent) else {
                continue;
            };
            let trial = self.suspects.trial(&registration.definition, &claim);
            let run = self.grant(registration, claim, sent, claimed_at);
            runs.push(Waiting {
                run,
                seat,
                trial,
                since,
            });
        }
        self.line.0.add(runs, &mut self.runs, &self.bench);
    }
}
