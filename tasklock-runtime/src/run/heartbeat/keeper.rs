//! The heartbeat thread's loop: when to beat, when a deadline has passed, what to do then.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::beat::{Beaten, Returns, beat};
use super::lease::{ABORT_PATIENCE, Mourned};
use super::line::Line;
use super::table::Shared;
use super::{Command, Return};
use crate::lease::{Clock, Moment, RenewRequest};
use crate::store::Renewer;

/// Timers stand still in suspend: look at the clock at least this often while a lease is held.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How long the first connection may take, before there is a lease to renew.
const FIRST_CONNECT: Duration = Duration::from_secs(1);

/// How many commands are obeyed before it is looked what is due.
const AT_ONCE: usize = 500;
/// How long a beat may take that renews nothing.
const LONGEST_CALL: Duration = Duration::from_secs(5);
/// When a lease that could not be given back is tried again.
const RETURN_AGAIN: Duration = Duration::from_millis(200);

type InFlight = Pin<Box<dyn Future<Output = Beaten> + Send>>;

pub(super) struct Keeper {
    pub(super) clock: Arc<dyn Clock>,
    commands: mpsc::UnboundedReceiver<Command>,
    requests: mpsc::UnboundedReceiver<RenewRequest>,
    pub(super) table: Arc<Shared>,
    /// The connection, when no beat has it.
    pub(super) line: Option<Line>,
    pub(super) in_flight: Option<InFlight>,
    /// To be given back with the next beat.
    pub(super) returns: Vec<Return>,
    /// Not before this, where the last try has failed.
    pub(super) return_again: Moment,
    /// Set when the process is about to end: nothing is claimed any more.
    pub(super) leaving: CancellationToken,
    /// Beats without an answer, in a row.
    failures: u32,
    failing: bool,
    /// Tests that have moved the clock.
    #[cfg(any(test, feature = "testing"))]
    pub(super) settling: Vec<tokio::sync::oneshot::Sender<Moment>>,
}

impl Keeper {
    pub(super) fn new(
        renewer: Box<dyn Renewer>,
        clock: Arc<dyn Clock>,
        commands: mpsc::UnboundedReceiver<Command>,
        requests: mpsc::UnboundedReceiver<RenewRequest>,
        table: Arc<Shared>,
        leaving: CancellationToken,
    ) -> Self {
        Self {
            clock,
            commands,
            requests,
            table,
            line: Some(Line::new(renewer)),
            in_flight: None,
            returns: Vec::new(),
            return_again: Moment::from_nanos(0),
            leaving,
            failures: 0,
            failing: false,
            #[cfg(any(test, feature = "testing"))]
            settling: Vec::new(),
        }
    }

    pub(super) async fn run(mut self) {
        if let Some(line) = &mut self.line
            && line.connect_within(FIRST_CONNECT).await.is_err()
        {
            line.reset();
        }
        let mut heard = Vec::new();
        let mut stopping = false;
        loop {
            let nap = self.nap();
            tokio::select! {
                biased;
                beaten = landed(&mut self.in_flight) => self.settle(beaten),
                () = sleep(nap) => {}
                heard = self.commands.recv_many(&mut heard, AT_ONCE) => {
                    if heard == 0 {
                        break;
                    }
                }
                Some(request) = self.requests.recv() => self.ask(request),
                () = self.table.earlier.notified() => {}
            }
            // All that has come by now: what several give back goes in one statement.
            for command in heard.drain(..) {
                stopping |= self.obey(command);
            }
            if stopping {
                break;
            }
            let wake_at = self.table.lock().wake_at;
            if self.clock.now() >= wake_at {
                self.tick().await;
            }
            #[cfg(any(test, feature = "testing"))]
            self.settled();
        }
        if let Some(in_flight) = self.in_flight.take() {
            let beaten = in_flight.await;
            self.settle(beaten);
        }
        self.give_back_the_rest().await;
    }

    fn nap(&self) -> Duration {
        let table = self.table.lock();
        let left = table.wake_at.since(self.clock.now());
        if table.leases.is_empty() {
            left
        } else {
            left.min(LOOK_AGAIN)
        }
    }

    pub(super) fn wake_by(&self, at: Moment) {
        self.table.lock().wake_by(at);
    }

    /// Records losses, starts a beat if one is due, and finds out when to wake next.
    async fn tick(&mut self) {
        let now = self.clock.now();
        let Seen {
            due,
            mourned,
            mut wake,
        } = self.look_at_all(now);
        mourned.iter().for_each(Mourned::say);
        if mourned.iter().any(|mourned| mourned.exits) {
            self.exit().await;
        }
        // What has expired by now needs no giving back: whoever waits is told by the drop.
        self.returns.retain(|lease| lease.until > now);
        let returning = !self.returns.is_empty() && self.return_again <= now;
        if !self.returns.is_empty() && self.line.is_some() {
            wake = wake.min(self.return_again.max(now));
        }
        if (due || returning)
            && let Some(line) = self.line.take()
        {
            self.start_beat(line, now);
        }
        self.wake_by(wake);
    }

    /// Records losses, and sees what is to be done.
    fn look_at_all(&self, now: Moment) -> Seen {
        let mut due = false;
        let mut mourned = Vec::new();
        let mut wake = Moment::from_nanos(u64::MAX);
        let mut table = self.table.lock();
        table.wake_at = Moment::from_nanos(u64::MAX);
        for lease in table.leases.values_mut() {
            match lease.kept.status.deadline() {
                Some(deadline) => {
                    wake = wake.min(deadline);
                    // While a beat is under way the next one waits: `settle` wakes the loop.
                    if self.line.is_some() {
                        wake = wake.min(lease.next_beat);
                        due |= lease.next_beat <= now;
                    }
                }
                None => {
                    mourned.extend(lease.mourn(now));
                    if !lease.warned {
                        wake = wake.min(now + ABORT_PATIENCE);
                    }
                }
            }
        }
        Seen { due, mourned, wake }
    }

    fn start_beat(&mut self, line: Line, now: Moment) {
        // Once a call was too short for a lease, it beats apart from those of much shorter ttl: one of
        // these, on a store that is slow for it, would else take all the others with it.
        let mut table = self.table.lock();
        let lead = table
            .leases
            .values()
            .filter(|lease| lease.next_beat <= now && lease.kept.status.check().is_ok())
            .min_by_key(|lease| lease.next_beat)
            .map(|lease| (lease.kept.ttl, lease.failed));
        if lead.is_none() && self.returns.is_empty() {
            drop(table);
            self.line = Some(line);
            return;
        }
        let (ttl, apart) = lead.unwrap_or((Duration::MAX, false));
        let mut members = Vec::new();
        let mut call = Duration::MAX;
        for lease in table.leases.values_mut() {
            if (apart && lease.kept.ttl < ttl / 2) || (lease.failed && ttl < lease.kept.ttl / 2) {
                continue;
            }
            if let Some(member) = lease.join(now) {
                call = call.min(lease.kept.ttl / 8);
                members.push(member);
            }
        }
        let call = call.min(LONGEST_CALL);
        // Whatever is given back, the next renewal of any lease must not wait for long.
        let ttls = table.leases.values().map(|lease| lease.kept.ttl / 8);
        let shortest = ttls.min();
        drop(table);
        let returns = Returns {
            leases: std::mem::take(&mut self.returns),
            call: shortest.map_or(call, |shortest| call.min(shortest)),
        };
        let clock = Arc::clone(&self.clock);
        self.in_flight = Some(Box::pin(beat(line, members, returns, clock, call)));
    }

    fn settle(&mut self, beaten: Beaten) {
        self.in_flight = None;
        self.line = Some(beaten.line);
        self.note(beaten.failure.as_ref());
        let now = self.clock.now();
        let mut table = self.table.lock();
        for (key, verdict) in beaten.verdicts {
            let Some(lease) = table.leases.get_mut(&key) else {
                continue;
            };
            lease.settle(verdict, beaten.failure.as_ref(), beaten.started);
            if let Some(done) = lease.forget.take() {
                table.leases.remove(&key);
                let _ = done.send(());
            } else if let Some(give_back) = lease.give_back.take() {
                table.leases.remove(&key);
                self.returns.push(give_back);
            }
        }
        // What could not be given back is tried again after a while, until it has expired.
        if !beaten.returns.is_empty() {
            self.returns.extend(beaten.returns);
            self.return_again = now + RETURN_AGAIN;
        }
        table.wake_by(now);
    }

    /// One line when the trouble begins, one when it is over. A single failure is none: on SQLite another
    /// writer need only take longer than a heartbeat waits, a handler's own guarded transaction, say.
    fn note(&mut self, failure: Option<&crate::error::StoreError>) {
        self.failures = match failure {
            None => 0,
            Some(_) => self.failures.saturating_add(1),
        };
        match failure {
            Some(error) if self.failures == 2 => {
                self.failing = true;
                let leases = self.table.lock().leases.len();
                tracing::warn!(
                    leases,
                    "heartbeats fail; the leases are held up to their deadlines, trying again: {error}"
                );
            }
            Some(error) => tracing::debug!("a heartbeat failed, trying again: {error}"),
            None if self.failing => {
                self.failing = false;
                tracing::info!("heartbeats succeed again");
            }
            None => {}
        }
    }
}

/// What a look at all leases has shown.
struct Seen {
    /// A beat is due.
    due: bool,
    /// Losses to be told.
    mourned: Vec<Mourned>,
    /// When the next of them is due, or lost.
    wake: Moment,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.table.close();
    }
}

async fn landed(in_flight: &mut Option<InFlight>) -> Beaten {
    match in_flight {
        Some(beaten) => beaten.await,
        None => std::future::pending().await,
    }
}
