//! The renewal of every lease that this process holds.
//!
//! One operating-system thread, with a current-thread runtime and a connection of its own. It is told
//! of a claim the moment the claim is granted, and of its end *before* the end is written: then no
//! renewal of this lease is under way any more, nor will there be one (the thread answers a
//! `forget` only after a batch that carries the lease has come back). Everything in between is its
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
//! # Deadlines
//!
//! The thread also wakes at the earliest deadline, records the loss, and sees to `on_lost`: the
//! execution drops the handler (`abort`); the process ends (`exit`). It runs beside the beat that is
//! under way, so a store that does not answer cannot delay it.

mod beat;
mod keeper;
mod lease;
mod line;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::error::Error;
use crate::lease::{Clock, LeaseKey, LeaseStatus, Moment, RenewRequest, Trust};
use crate::store::Renewer;
use crate::task::OnLost;
use keeper::Keeper;

/// A lease to keep alive.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) task: Arc<str>,
    pub(crate) key: LeaseKey,
    pub(crate) ttl: Duration,
    pub(crate) heartbeat: Duration,
    pub(crate) trust: Trust,
    pub(crate) on_lost: OnLost,
    pub(crate) status: Arc<LeaseStatus>,
    /// When the claim was sent.
    pub(crate) granted: Moment,
}

#[derive(Debug)]
enum Command {
    Keep(Kept),
    Forget(LeaseKey, oneshot::Sender<()>),
    Stop,
}

/// The thread's handle.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    commands: mpsc::UnboundedSender<Command>,
    renewals: mpsc::UnboundedSender<RenewRequest>,
    thread: JoinHandle<()>,
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
        let keeper = Keeper::new(renewer, clock, inbox, requests);
        let thread = std::thread::Builder::new()
            .name("tasklock-heartbeat".into())
            .spawn(move || runtime.block_on(keeper.run()))
            .map_err(failed)?;
        Ok(Self {
            commands,
            renewals,
            thread,
        })
    }

    /// Renews this lease from now on.
    pub(crate) fn keep(&self, kept: Kept) {
        let status = Arc::clone(&kept.status);
        if self.commands.send(Command::Keep(kept)).is_err() {
            // Nobody would renew it, or tell its handler.
            status.lose(crate::lease::LeaseLost::StoreUnreachable);
        }
    }

    /// Renews this lease no more; when this returns, no renewal of it is under way.
    pub(crate) async fn forget(&self, key: &LeaseKey) {
        let (done, forgotten) = oneshot::channel();
        if self
            .commands
            .send(Command::Forget(key.clone(), done))
            .is_ok()
        {
            // An error means that the thread is gone, and its renewals with it.
            let _ = forgotten.await;
        }
    }

    /// Where a handler's `renew()` goes.
    pub(crate) fn renewals(&self) -> mpsc::UnboundedSender<RenewRequest> {
        self.renewals.clone()
    }

    /// Whether the thread has died.
    pub(crate) fn is_dead(&self) -> bool {
        self.thread.is_finished()
    }

    /// Ends the thread after everything else has ended.
    pub(crate) fn stop(self) {
        let _ = self.commands.send(Command::Stop);
        if self.thread.join().is_err() {
            tracing::error!("the heartbeat thread had panicked: its leases were marked lost");
        }
    }
}
