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
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::execution::Bench;
use super::heart::Heart;
use super::registry::Registry;
use super::slots::{Pace, Slots};
use super::standing;
use super::suspects::{Suspects, tried};
use crate::error::{StoreError, StoreErrorKind};
use crate::fault;
use crate::lease::{Clock, Moment, OwnerToken};
use crate::store::{Claim, ClaimBatch, ClaimRequest, Store, Wanted};
use crate::task::Definition;

const CALL: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LAST_RETRY: Duration = Duration::from_secs(10);
/// How long a look that is under way may hold up the stop, and then the giving back of its claim.
const LAST_LOOK: Duration = Duration::from_secs(1);
/// How often at most parked jobs are looked at whose resource may be free; the store asks for it a second on.
const SWEEP: Duration = Duration::from_millis(900);
/// Where announcements arrive, polling is a safety net, and this much rarer.
const NET: u32 = 10;

pub(super) struct Scheduler {
    pub(super) store: Arc<dyn Store>,
    pub(super) heart: Arc<Heart>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) registry: Arc<Registry>,
    pub(super) bench: Arc<Bench>,
    pub(super) slots: Arc<Slots>,
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
            self.bench.alarm.clear();
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
                    self.start_all(batch.claims, batch.now);
                    if gone || failed == Some(StoreErrorKind::Schema) {
                        self.restore().await;
                    }
                    let least = if found { Duration::ZERO } else { pause };
                    self.bench.alarm.within(wait.max(least).min(self.poll()));
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

    /// Asks the store for work.
    pub(super) async fn look(&mut self, limit: usize) -> Result<Found, StoreError> {
        self.resolve_doubts().await?;
        let request = ClaimRequest {
            token: OwnerToken::fresh(),
            worker: self.worker.clone(),
            tasks: self.tasks(),
            limit,
            // A suspect that had to wait for its slot might go back, and lose its mark.
            suspects: self.suspects.room().min(self.slots.is_free().into()),
            sweep: self.is_to_sweep(),
        };
        // It may be carried out without our hearing of it: then its rows carry this token.
        self.in_doubt.push(request.token.clone());
        let sent = self.clock.now();
        fault::at("claim to be sent");
        let answer = timeout(CALL, self.store.claim(&request)).await;
        fault::at("claim answered");
        let late = fault::has("the deadline is taken from the reply")
            || fault::has("now() in a long transaction");
        let sent = if late { self.clock.now() } else { sent };
        let error = match answer {
            Ok(Ok(ClaimBatch {
                now,
                claims,
                wait,
                parked,
            })) => {
                self.in_doubt.pop();
                self.bench.alarm.set_store_time(now);
                let claims = claims.into_iter().map(|claim| (claim, sent)).collect();
                return Ok(Found {
                    now,
                    claims,
                    wait,
                    parked,
                });
            }
            Ok(Err(error)) => error,
            Err(_) => StoreError::no_answer(self.store.name(), "claim", CALL),
        };
        if error.kind() != StoreErrorKind::Unavailable {
            self.in_doubt.pop();
        }
        Err(error)
    }

    /// Whoever holds the resource of a parked job may have died: once a second somebody has to look.
    fn is_to_sweep(&mut self) -> bool {
        let now = self.clock.now();
        let due = self.swept.is_none_or(|last| now.since(last) >= SWEEP);
        if due {
            self.swept = Some(now);
        }
        due
    }

    pub(super) fn tasks(&self) -> Vec<Wanted> {
        let wanted = |definition: &Definition| Wanted {
            task: definition.name.to_owned(),
            queue: definition.queue_name().to_owned(),
            ttl: definition.timing().ttl,
            most: definition.limit(),
            suspect_from: definition.suspect_from(),
        };
        let tasks = self.registry.iter();
        tasks.map(|task| wanted(&task.definition)).collect()
    }

    /// Nobody works under these tokens: whatever was taken goes back, rather than wait for its expiry.
    async fn resolve_doubts(&mut self) -> Result<(), StoreError> {
        while let Some(token) = self.in_doubt.last() {
            let given_back = match timeout(CALL, self.store.abandon(token)).await {
                Ok(answer) => answer?,
                Err(_) => break,
            };
            if given_back > 0 {
                tracing::info!(
                    given_back,
                    "gave back what a claim took whose reply was lost"
                );
            }
            self.in_doubt.pop();
        }
        Ok(())
    }

    fn start_all(&mut self, claims: Vec<(Claim, Moment)>, claimed_at: i64) {
        for (claim, sent) in claims {
            let Some(registration) = self.registry.get(&claim.task) else {
                continue;
            };
            let seat = self.slots.seat();
            let Some((claim, seat)) = self.equipped(registration, claim, seat, sent) else {
                continue;
            };
            let trial = self.suspects.trial(&registration.definition, &claim);
            let run = self.grant(registration, claim, sent, claimed_at);
            let bench = Arc::clone(&self.bench);
            self.runs.spawn(async move {
                tried(async { drop(run.execute(&bench, seat).await) }, trial).await;
            });
        }
    }
}

/// Claims with the moment they were sent.
pub(super) struct Found {
    pub(super) now: i64,
    pub(super) claims: Vec<(Claim, Moment)>,
    wait: Option<Duration>,
    parked: bool,
}
