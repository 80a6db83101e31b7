//! The renewal of every lease that this process holds.
//!
//! One operating-system thread, with a current-thread runtime and a connection of its own. A lease is put into
//! its table (`table.rs`) the moment the claim is granted, and taken out *before* the end is written: then no
//! renewal of this lease is under way any more, nor will there be one (whoever takes it out while a batch
//! carries it waits until that has come back). Everything in between is the thread's
//! alone: it is the one writer that extends deadlines.
//!
//! # A beat
//!
//! When the first lease is due, all that would be due within half of their period go along, so that
//! leases of one period fall into step and a beat is one statement per 500 leases. `t0` is read
//! before each statement. What the store confirms is extended. What it does not confirm is read
//! back: another owner, another fence, or an end means lost; still ours means that its row was
//! locked just then: the old deadline stands, and the next try comes soon. A call that fails or takes
//! longer than an eighth of the shortest ttl proves nothing either way: the connection is thrown
//! away, the deadlines stand, and the next try comes soon, until the deadline passes. No error
//! extends anything, and no error ends anything.
//!
//! # Two leases of one run
//!
//! A job with a resource runs under two leases, and one belief: they are renewed by one statement, are confirmed
//! together or not at all, and lost as soon as one of them is. So whoever takes over either of them does so after the
//! belief has ended in both.
//!
//! # Who decides that there is a next beat
//!
//! With `renew = "manual"` a lease is due only when its handler has asked for it. What it has asked for it gets: where
//! the store gives no confirmation, the beat is tried again like any other, until it does or the deadline passes.
//! With `renew = "progress"` leases are due as ever; the status itself is lost once the handler has said nothing
//! for too long, and what is lost joins no beat. Every renewal takes along what the handler has said of its
//! progress: a report costs no statement of its own.
//!
//! # Deadlines
//!
//! The thread also wakes at the earliest deadline, records the loss, and sees to `on_lost`: the
//! execution drops the handler (`abort`); the process ends (`exit`). It runs beside the beat that is
//! under way, so a store that does not answer cannot delay it.
//!
//! # A run that is dropped
//!
//! Its future may be dropped at any await: the application drops `run()`, or the runtime shuts down.
//! Nobody can await anything then, so nothing is given back; but whoever still has the context is made
//! to see the lease lost, the thread is told to forget it, and it expires. See [`Keeping`].

mod back;
mod beat;
#[cfg(any(test, feature = "testing"))]
mod by_hand;
mod commands;
mod keeper;
mod lease;
mod line;
mod table;

use std::fmt;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::lease::{
    Clock, LeaseKey, LeaseLost, LeaseStatus, Moment, RenewRequest, Renewals, Trust,
};
use crate::store::Renewer;
use crate::task::{OnLost, Renew};
use keeper::Keeper;
use table::Shared;

/// A lease to keep alive.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) task: Arc<str>,
    pub(crate) key: LeaseKey,
    /// The second lease, on the job's resource: one belief for both.
    pub(crate) resource: Option<LeaseKey>,
    pub(crate) ttl: Duration,
    pub(crate) heartbeat: Duration,
    pub(crate) renew: Renew,
    pub(crate) trust: Trust,
    pub(crate) on_lost: OnLost,
    pub(crate) status: Arc<LeaseStatus>,
    /// When the claim was sent.
    pub(crate) granted: Moment,
}

#[derive(Debug)]
enum Command {
    GiveBack(Return),
    /// Closes the connection, if nothing is kept.
    Rest,
    /// Does what is due by the clock, then tells when it looks next.
    #[cfg(any(test, feature = "testing"))]
    Settle(oneshot::Sender<Moment>),
    Stop,
}

/// A lease to give back, once no renewal of it is under way.
#[derive(Debug)]
struct Return {
    key: LeaseKey,
    /// By then it has expired, and there is nothing to give back.
    until: Moment,
    done: Option<oneshot::Sender<()>>,
}

/// A lease in the thread's hands.
#[must_use = "the lease is lost with it"]
pub(crate) struct Keeping {
    commands: mpsc::UnboundedSender<Command>,
    table: Arc<Shared>,
    key: LeaseKey,
    status: Arc<LeaseStatus>,
    forgotten: bool,
}

impl Keeping {
    /// Whether a renewal of it is under way.
    pub(crate) fn is_beating(&self) -> bool {
        self.table.is_beating(&self.key)
    }

    /// Renews this lease no more; when this returns, no renewal of it is under way.
    pub(crate) async fn forget(&mut self) {
        if let Some(forgotten) = self.table.forget(&self.key) {
            // An error means that the thread is gone, and its renewals with it.
            let _ = forgotten.await;
        }
        self.forgotten = true;
    }

    /// Renews this lease no more, and gives it back over the heartbeat's own connection: where no other one can be
    /// had, or nobody can wait. It is told when that is done, or when the lease has expired by then.
    pub(crate) fn give_back(mut self, until: Moment) -> oneshot::Receiver<()> {
        let (done, returned) = oneshot::channel();
        self.forgotten = self
            .commands
            .send(Command::GiveBack(Return {
                key: self.key.clone(),
                until,
                done: Some(done),
            }))
            .is_ok();
        returned
    }
}

/// Where the run was dropped before its end.
impl Drop for Keeping {
    fn drop(&mut self) {
        if !self.forgotten {
            self.status.lose(LeaseLost::Released);
            drop(self.table.forget(&self.key));
        }
    }
}

/// The thread's handle.
pub(crate) struct Heartbeat {
    commands: mpsc::UnboundedSender<Command>,
    table: Arc<Shared>,
    renewals: mpsc::UnboundedSender<RenewRequest>,
    leaving: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Starts the thread.
    pub(crate) fn start(renewer: Box<dyn Renewer>, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let (commands, inbox) = mpsc::unbounded_channel();
        let (renewals, requests) = mpsc::unbounded_channel();
        let failed = |source| Error::System {
            what: "cannot start the heartbeat thread",
            source,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let leaving = CancellationToken::new();
        let table = Arc::new(Shared::new());
        let shared = Arc::clone(&table);
        let keeper = Keeper::new(renewer, clock, inbox, requests, shared, leaving.clone());
        let thread = std::thread::Builder::new()
            .name("tasklock-heartbeat".into())
            .spawn(move || runtime.block_on(keeper.run()))
            .map_err(failed)?;
        Ok(Self {
            commands,
            table,
            renewals,
            leaving,
            thread: Some(thread),
        })
    }

    /// Renews this lease from now on, until the answer is dropped or told to forget it.
    pub(crate) fn keep(&self, kept: Kept) -> Keeping {
        let keeping = Keeping {
            commands: self.commands.clone(),
            table: Arc::clone(&self.table),
            key: kept.key.clone(),
            status: Arc::clone(&kept.status),
            forgotten: false,
        };
        self.table.keep(kept);
        keeping
    }

    /// Where a handler's `renew()` goes.
    pub(crate) fn renewals(&self) -> Renewals {
        Renewals::Heartbeat(self.renewals.clone())
    }

    /// Whether the thread has died.
    pub(crate) fn is_dead(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for ever if `on_lost = "exit"` is ending the process: what it gives back is not for itself.
    pub(crate) async fn stays(&self) {
        if self.leaving.is_cancelled() {
            std::future::pending::<()>().await;
        }
    }

    /// Closes the connection until there is something to renew again.
    pub(crate) fn rest(&self) {
        let _ = self.commands.send(Command::Rest);
    }

    /// Ends the thread after everything else has ended.
    pub(crate) fn stop(mut self) {
        let _ = self.commands.send(Command::Stop);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the heartbeat thread had panicked: its leases were marked lost");
        }
    }
}

impl fmt::Debug for Heartbeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Heartbeat")
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        let _ = self.commands.send(Command::Stop);
    }
}
