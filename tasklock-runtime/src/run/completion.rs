//! Writes how runs ended, in batches: what gathers while one statement is under way goes into the
//! next.
//!
//! Every end is guarded by (owner, fence), so writing it twice, or too late, changes nothing of
//! anybody else's. A row that the store skipped because it was locked is read back and, while it is
//! still ours, tried again. So is an end that cannot be written at all, while its lease is trusted and
//! no longer: after that the job is somebody else's to decide about, and runs again.

mod writing;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::settling::Settling;
use crate::error::StoreError;
use crate::lease::{Clock, LeaseKey, Moment};
use crate::store::{Finish, MAX_BATCH, Store};
use writing::{write_batch, write_singly};

const CALL: Duration = Duration::from_secs(5);
const FIRST_RETRY: Duration = Duration::from_millis(10);
const LAST_RETRY: Duration = Duration::from_secs(1);

/// An end to write.
#[derive(Debug)]
pub(crate) enum End {
    /// The run is over.
    Finish(Finish),
    /// The run was not made, or not to its end: the lease goes back, and the second one with it.
    Release(LeaseKey, Option<LeaseKey>),
}

impl End {
    fn key(&self) -> &LeaseKey {
        match self {
            Self::Finish(finish) => &finish.key,
            Self::Release(key, _) => key,
        }
    }

    fn resource(&self) -> Option<&LeaseKey> {
        match self {
            Self::Finish(finish) => finish.resource.as_ref(),
            Self::Release(_, resource) => resource.as_ref(),
        }
    }
}

/// Whether an end was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// It was.
    Yes,
    /// The row is not ours any more: nothing was changed. After a lost reply this can also mean that
    /// an earlier try was carried out.
    NotOurs,
    /// The store did not take it while the lease was trusted.
    TooLate,
}

struct Ending {
    end: End,
    /// When the lease can be trusted no more.
    deadline: Moment,
    done: Done,
}

/// Who is told whether it was written.
enum Done {
    Run(Box<Settling>),
    Caller(oneshot::Sender<Written>),
    Nobody,
}

impl Done {
    fn tell(self, written: Written) {
        match self {
            Self::Run(run) => {
                // The ends of all others are written after it: whatever an application's log makes of it is its own.
                let told = catch_unwind(AssertUnwindSafe(|| run.conclude(Some(written))));
                if told.is_err() {
                    tracing::error!("telling the end of a run has panicked");
                }
            }
            Self::Caller(caller) => {
                let _ = caller.send(written);
            }
            Self::Nobody => {}
        }
    }
}

/// Takes ends to write.
#[derive(Clone)]
pub(crate) struct Completion(mpsc::UnboundedSender<Ending>);

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Completion")
    }
}

impl Completion {
    /// The sender, and the future that writes until every sender is gone.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
    ) -> (Self, impl Future<Output = ()> + Send) {
        let (sender, inbox) = mpsc::unbounded_channel();
        (Self(sender), write_all(store, clock, inbox))
    }

    /// Writes an end, trying again up to the deadline; returns when it is known whether it was.
    pub(crate) async fn write(&self, end: End, deadline: Moment) -> Written {
        let (done, written) = oneshot::channel();
        let ending = Ending {
            end,
            deadline,
            done: Done::Caller(done),
        };
        self.send(ending);
        written.await.unwrap_or(Written::TooLate)
    }

    /// Writes it likewise, and then tells the run.
    pub(super) fn write_for(&self, end: End, deadline: Moment, run: Box<Settling>) {
        self.send(Ending {
            end,
            deadline,
            done: Done::Run(run),
        });
    }

    fn send(&self, ending: Ending) {
        if let Err(unsent) = self.0.send(ending) {
            unsent.0.done.tell(Written::TooLate);
        }
    }
}

async fn write_all(
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    mut inbox: mpsc::UnboundedReceiver<Ending>,
) {
    // What is to be tried again. New ends do not wait for it: one row that is locked, or that the
    // store refuses, must not cost the others their leases.
    let mut waiting: Vec<Ending> = Vec::new();
    let mut retry = FIRST_RETRY;
    let mut retry_at = Instant::now();
    let mut failing = false;
    let mut open = true;
    while open || !waiting.is_empty() {
        let mut batch = Vec::new();
        tokio::select! {
            received = inbox.recv_many(&mut batch, MAX_BATCH), if open => {
                if received == 0 {
                    open = false;
                    continue;
                }
            }
            () = sleep_until(retry_at), if !waiting.is_empty() => {
                batch.extend(waiting.drain(..waiting.len().min(MAX_BATCH)));
            }
        }
        let mut answer = write_batch(&*store, &batch).await;
        if answer.is_refused() {
            // The store refuses something in it: find out what, and write the rest.
            write_singly(&*store, &mut batch, &mut answer).await;
        }
        note(&mut failing, batch.len(), answer.failure.as_ref());
        // Known for sure, or not to be known any more; the rest is tried again.
        let verdict = |ending: &Ending| match answer.verdicts.get(ending.end.key()) {
            Some(verdict) => Some(*verdict),
            None => (clock.now() >= ending.deadline).then_some(Written::TooLate),
        };
        for ending in batch.extract_if(.., |ending| verdict(ending).is_some()) {
            let written = verdict(&ending).unwrap_or(Written::TooLate);
            // Its row was locked just then: it goes back by itself.
            if let Some(resource) = ending.end.resource()
                && written == Written::Yes
                && !answer.verdicts.contains_key(resource)
            {
                waiting.push(Ending {
                    end: End::Release(resource.clone(), None),
                    deadline: ending.deadline,
                    done: Done::Nobody,
                });
                retry_at = retry_at.max(Instant::now() + FIRST_RETRY);
            }
            ending.done.tell(written);
        }
        if !batch.is_empty() {
            waiting.append(&mut batch);
            retry_at = Instant::now() + retry;
            retry = (retry * 2).min(LAST_RETRY);
        } else if waiting.is_empty() {
            retry = FIRST_RETRY;
        }
    }
}

/// One line when the trouble begins, one when it is over.
fn note(failing: &mut bool, runs: usize, error: Option<&StoreError>) {
    match error {
        Some(error) if !*failing => tracing::warn!(
            runs,
            "the ends of runs cannot be written; trying again while their leases last: {error}"
        ),
        None if *failing => tracing::info!("the ends of runs can be written again"),
        _ => {}
    }
    *failing = error.is_some();
}
