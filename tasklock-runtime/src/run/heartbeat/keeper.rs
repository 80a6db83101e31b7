//! The heartbeat thread's loop: when to beat, when a deadline has passed, what to do then.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::beat::{Beaten, Member, Verdict, beat};
use super::{Command, Kept};
use crate::lease::{Clock, LeaseKey, LeaseLost, Moment, RenewError, RenewRequest};
use crate::store::{MAX_BATCH, Renewal, Renewer};
use crate::task::OnLost;

/// Timers stand still in suspend: look at the clock at least this often while a lease is held.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How long a handler may go on after its loss before a warning names it.
const ABORT_PATIENCE: Duration = Duration::from_secs(1);
/// How long `on_lost = "exit"` waits for the other leases to be given back.
const EXIT_PATIENCE: Duration = Duration::from_secs(1);
/// `EX_TEMPFAIL`: try again elsewhere.
const EXIT_CODE: i32 = 75;

type InFlight = Pin<Box<dyn Future<Output = Beaten> + Send>>;
type Answer = oneshot::Sender<Result<(), RenewError>>;

pub(super) struct Keeper {
    clock: Arc<dyn Clock>,
    commands: mpsc::UnboundedReceiver<Command>,
    requests: mpsc::UnboundedReceiver<RenewRequest>,
    /// By job and fence: a job that was lost and taken again here has two.
    leases: HashMap<(i64, i64), Lease>,
    /// The connection, when no beat has it.
    renewer: Option<Box<dyn Renewer>>,
    in_flight: Option<InFlight>,
    /// Nothing is to be done before this.
    wake_at: Moment,
    failing: bool,
}

struct Lease {
    kept: Kept,
    next_beat: Moment,
    beating: bool,
    lost_at: Option<Moment>,
    warned: bool,
    /// Waits for the next beat that starts.
    asked: Vec<Answer>,
    /// Waits for the beat that is under way.
    asking: Vec<Answer>,
    /// To be dropped when the beat under way is back.
    forget: Option<oneshot::Sender<()>>,
}

impl Keeper {
    pub(super) fn new(
        renewer: Box<dyn Renewer>,
        clock: Arc<dyn Clock>,
        commands: mpsc::UnboundedReceiver<Command>,
        requests: mpsc::UnboundedReceiver<RenewRequest>,
    ) -> Self {
        Self {
            clock,
            commands,
            requests,
            leases: HashMap::new(),
            renewer: Some(renewer),
            in_flight: None,
            wake_at: Moment::from_nanos(u64::MAX),
            failing: false,
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            let nap = self.nap();
            tokio::select! {
                biased;
                beaten = landed(&mut self.in_flight) => self.settle(beaten),
                () = sleep(nap) => {}
                command = self.commands.recv() => match command {
                    Some(Command::Keep(kept)) => self.keep(kept),
                    Some(Command::Forget(key, done)) => self.forget(&key, done),
                    Some(Command::Stop) | None => break,
                },
                Some(request) = self.requests.recv() => self.ask(request),
            }
            if self.clock.now() >= self.wake_at {
                self.tick().await;
            }
        }
        if let Some(in_flight) = self.in_flight.take() {
            in_flight.await;
        }
    }

    fn nap(&self) -> Duration {
        let left = self.wake_at.since(self.clock.now());
        if self.leases.is_empty() {
            left
        } else {
            left.min(LOOK_AGAIN)
        }
    }

    fn keep(&mut self, kept: Kept) {
        let next_beat = kept.granted + kept.heartbeat;
        self.wake_by(next_beat.min(kept.status.deadline().unwrap_or(next_beat)));
        let lease = Lease {
            next_beat,
            beating: false,
            lost_at: None,
            warned: false,
            asked: Vec::new(),
            asking: Vec::new(),
            forget: None,
            kept,
        };
        self.leases
            .insert((lease.kept.key.job, lease.kept.key.fence), lease);
    }

    fn forget(&mut self, key: &LeaseKey, done: oneshot::Sender<()>) {
        let id = (key.job, key.fence);
        match self.leases.get_mut(&id) {
            Some(lease) if lease.beating => lease.forget = Some(done),
            _ => {
                self.leases.remove(&id);
                let _ = done.send(());
            }
        }
    }

    fn ask(&mut self, request: RenewRequest) {
        let now = self.clock.now();
        match self.leases.get_mut(&(request.key.job, request.key.fence)) {
            Some(lease) => {
                lease.next_beat = now;
                lease.asked.push(request.reply);
                self.wake_by(now);
            }
            None => {
                let ended = RenewError::Unconfirmed("the run has ended".into());
                let _ = request.reply.send(Err(ended));
            }
        }
    }

    fn wake_by(&mut self, at: Moment) {
        self.wake_at = self.wake_at.min(at);
    }

    /// Records losses, starts a beat if one is due, and finds out when to wake next.
    async fn tick(&mut self) {
        let now = self.clock.now();
        self.wake_at = Moment::from_nanos(u64::MAX);
        let mut due = false;
        let mut exits = false;
        let mut wake = Moment::from_nanos(u64::MAX);
        for lease in self.leases.values_mut() {
            match lease.kept.status.deadline() {
                Some(deadline) => {
                    wake = wake.min(deadline);
                    // While a beat is under way the next one waits: `settle` wakes the loop.
                    if self.renewer.is_some() {
                        wake = wake.min(lease.next_beat);
                        due |= lease.next_beat <= now;
                    }
                }
                None => {
                    exits |= lease.mourn(now);
                    if !lease.warned {
                        wake = wake.min(now + ABORT_PATIENCE);
                    }
                }
            }
        }
        if exits {
            self.exit().await;
        }
        if due && let Some(renewer) = self.renewer.take() {
            self.start_beat(renewer, now);
        }
        self.wake_by(wake);
    }

    fn start_beat(&mut self, renewer: Box<dyn Renewer>, now: Moment) {
        let mut members = Vec::new();
        let mut call = Duration::MAX;
        for lease in self.leases.values_mut() {
            let kept = &lease.kept;
            if lease.forget.is_some()
                || lease.next_beat > now + kept.heartbeat / 2
                || kept.status.check().is_err()
            {
                continue;
            }
            call = call.min(kept.ttl / 8);
            lease.beating = true;
            lease.next_beat = now + kept.heartbeat;
            lease.asking.append(&mut lease.asked);
            members.push(Member {
                renewal: Renewal {
                    key: kept.key.clone(),
                    ttl: kept.ttl,
                },
                trust: kept.trust,
                status: Arc::clone(&kept.status),
            });
        }
        let clock = Arc::clone(&self.clock);
        self.in_flight = Some(Box::pin(beat(renewer, members, clock, call)));
    }

    fn settle(&mut self, beaten: Beaten) {
        self.in_flight = None;
        self.renewer = Some(beaten.renewer);
        self.note(beaten.failure.as_ref());
        let now = self.clock.now();
        for (key, verdict) in beaten.verdicts {
            let id = (key.job, key.fence);
            let Some(lease) = self.leases.get_mut(&id) else {
                continue;
            };
            lease.beating = false;
            if verdict != Verdict::Renewed {
                // Spread, so that many workers do not come back to a troubled store together.
                let soon = (lease.kept.ttl / 16).min(LOOK_AGAIN);
                let spread = soon.mul_f64(f64::from(getrandom::u32().unwrap_or(0) % 256) / 512.0);
                lease.next_beat = lease.next_beat.min(now + soon + spread);
            }
            for answer in lease.asking.drain(..) {
                let _ = answer.send(lease.kept.answer(verdict, beaten.failure.as_ref()));
            }
            if let Some(done) = lease.forget.take() {
                self.leases.remove(&id);
                let _ = done.send(());
            }
        }
        self.wake_by(now);
    }

    /// One line when the trouble begins, one when it is over.
    fn note(&mut self, failure: Option<&crate::error::StoreError>) {
        match failure {
            Some(error) if !self.failing => tracing::warn!(
                leases = self.leases.len(),
                "a heartbeat failed; the leases are held up to their deadlines, trying again: {error}"
            ),
            None if self.failing => tracing::info!("heartbeats succeed again"),
            _ => {}
        }
        self.failing = failure.is_some();
    }

    /// Ends the process for a lost lease with `on_lost = "exit"`.
    ///
    /// The other leases are marked lost first, so that no `check()` and no guarded write of their
    /// handlers succeeds after they are given back; what a handler does without either in the
    /// moment between is not stopped.
    async fn exit(&mut self) {
        if let Some(in_flight) = self.in_flight.take()
            && let Ok(beaten) = timeout(EXIT_PATIENCE, in_flight).await
        {
            self.renewer = Some(beaten.renewer);
        }
        let held: Vec<LeaseKey> = self
            .leases
            .values()
            .filter(|lease| lease.kept.status.check().is_ok())
            .map(|lease| {
                lease.kept.status.lose(LeaseLost::Released);
                lease.kept.key.clone()
            })
            .collect();
        if let Some(renewer) = &mut self.renewer {
            let release = async {
                renewer.connect().await?;
                for keys in held.chunks(MAX_BATCH) {
                    renewer.release(keys).await?;
                }
                Ok::<_, crate::error::StoreError>(())
            };
            if !held.is_empty() && !matches!(timeout(EXIT_PATIENCE, release).await, Ok(Ok(()))) {
                tracing::warn!("the other leases could not be given back; they expire");
            }
        }
        std::process::exit(EXIT_CODE);
    }
}

impl Lease {
    /// Sees to a lease that is lost; answers whether the process is to end.
    fn mourn(&mut self, now: Moment) -> bool {
        let Err(lost) = self.kept.status.check() else {
            return false;
        };
        let (task, job, fence) = (&*self.kept.task, self.kept.key.job, self.kept.key.fence);
        for answer in self.asked.drain(..) {
            let _ = answer.send(Err(RenewError::Lost(lost)));
        }
        match self.lost_at {
            None => {
                self.lost_at = Some(now);
                if self.kept.on_lost == OnLost::Exit {
                    tracing::error!(
                        task,
                        job,
                        fence,
                        "{lost}; on_lost = \"exit\" ends the process"
                    );
                    return true;
                }
            }
            Some(lost_at) if !self.warned && now.since(lost_at) >= ABORT_PATIENCE => {
                self.warned = true;
                if self.kept.on_lost == OnLost::Abort {
                    tracing::warn!(
                        task,
                        job,
                        fence,
                        reason = lost.as_str(),
                        "the lease was lost, but the handler blocks its thread and cannot be dropped: \
                         it goes on beside a new owner until its next await point"
                    );
                }
            }
            Some(_) => {}
        }
        false
    }
}

impl Kept {
    fn answer(
        &self,
        verdict: Verdict,
        failure: Option<&crate::error::StoreError>,
    ) -> Result<(), RenewError> {
        self.status.check().map_err(RenewError::Lost)?;
        match verdict {
            Verdict::Renewed => Ok(()),
            Verdict::Busy => Err(RenewError::Unconfirmed(
                "another transaction has locked the job's row".into(),
            )),
            Verdict::Lost | Verdict::Unknown => Err(RenewError::Unconfirmed(
                failure.map_or_else(|| "no answer".into(), ToString::to_string),
            )),
        }
    }
}

/// Only in case the thread panics: whoever still holds a lease must not go on believing.
impl Drop for Keeper {
    fn drop(&mut self) {
        for lease in self.leases.values() {
            lease.kept.status.lose(LeaseLost::StoreUnreachable);
        }
    }
}

async fn landed(in_flight: &mut Option<InFlight>) -> Beaten {
    match in_flight {
        Some(beaten) => beaten.await,
        None => std::future::pending().await,
    }
}
