//! Writes how runs ended, in batches: what gathers while one statement is under way goes into the
//! next.
//!
//! Every end is guarded by (owner, fence), so writing it twice, or too late, changes nothing of
//! anybody else's. A row that the store skipped because it was locked is read back and, while it is
//! still ours, tried again. So is an end that cannot be written at all, while its lease is trusted and
//! no longer: after that the job is somebody else's to decide about, and runs again.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use crate::error::StoreError;
use crate::lease::{Clock, LeaseKey, Moment};
use crate::store::{Finish, MAX_BATCH, Store, answered};

const CALL: Duration = Duration::from_secs(5);
const FIRST_RETRY: Duration = Duration::from_millis(10);
const LAST_RETRY: Duration = Duration::from_secs(1);

/// An end to write.
#[derive(Debug)]
pub(crate) enum End {
    /// The run is over.
    Finish(Finish),
    /// The run was not made, or not to its end: the lease goes back.
    Release(LeaseKey),
}

impl End {
    fn id(&self) -> (i64, i64) {
        (self.key().job, self.key().fence)
    }

    fn key(&self) -> &LeaseKey {
        match self {
            Self::Finish(finish) => &finish.key,
            Self::Release(key) => key,
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
    done: oneshot::Sender<Written>,
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
            done,
        };
        if self.0.send(ending).is_err() {
            return Written::TooLate;
        }
        written.await.unwrap_or(Written::TooLate)
    }
}

async fn write_all(
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    mut inbox: mpsc::UnboundedReceiver<Ending>,
) {
    let mut batch = Vec::new();
    let mut retry = FIRST_RETRY;
    let mut failing = false;
    loop {
        if batch.is_empty() && inbox.recv_many(&mut batch, MAX_BATCH).await == 0 {
            return;
        }
        while batch.len() < MAX_BATCH
            && let Ok(ending) = inbox.try_recv()
        {
            batch.push(ending);
        }
        let written = write_batch(&*store, &batch).await;
        note(&mut failing, batch.len(), written.as_ref().err());
        // Known for sure, or not to be known any more; the rest is tried again.
        let verdicts = written.unwrap_or_default();
        let verdict = |ending: &Ending| match verdicts.get(&ending.end.id()) {
            Some(verdict) => Some(*verdict),
            None => (clock.now() >= ending.deadline).then_some(Written::TooLate),
        };
        for ending in batch.extract_if(.., |ending| verdict(ending).is_some()) {
            let written = verdict(&ending).unwrap_or(Written::TooLate);
            let _ = ending.done.send(written);
        }
        if batch.is_empty() {
            retry = FIRST_RETRY;
        } else {
            sleep(retry).await;
            retry = (retry * 2).min(LAST_RETRY);
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

/// Writes what can be written; answers by (job, fence). Rows that were skipped and are still ours are in
/// no answer.
async fn write_batch(
    store: &dyn Store,
    batch: &[Ending],
) -> Result<HashMap<(i64, i64), Written>, StoreError> {
    let mut finishes = Vec::new();
    let mut releases = Vec::new();
    for ending in batch {
        match &ending.end {
            End::Finish(finish) => finishes.push(finish.clone()),
            End::Release(key) => releases.push(key.clone()),
        }
    }
    let write = async {
        let mut jobs = Vec::new();
        if !finishes.is_empty() {
            jobs.extend(store.finish(&finishes).await?);
        }
        if !releases.is_empty() {
            jobs.extend(store.release(&releases).await?);
        }
        let keys = || batch.iter().map(|ending| ending.end.key());
        let mut verdicts: HashMap<_, _> = answered(keys(), &jobs)
            .into_iter()
            .map(|id| (id, Written::Yes))
            .collect();
        let missing: Vec<&LeaseKey> = keys()
            .filter(|key| !verdicts.contains_key(&(key.job, key.fence)))
            .collect();
        if !missing.is_empty() {
            let jobs: Vec<i64> = missing.iter().map(|key| key.job).collect();
            let rows = store.inspect(&jobs).await?;
            for key in missing {
                if !rows.iter().any(|row| row.is_held_under(key)) {
                    verdicts.insert((key.job, key.fence), Written::NotOurs);
                }
            }
        }
        Ok(verdicts)
    };
    timeout(CALL, write).await.unwrap_or_else(|_| {
        Err(StoreError::no_answer(
            store.name(),
            "write the ends of runs",
            CALL,
        ))
    })
}
