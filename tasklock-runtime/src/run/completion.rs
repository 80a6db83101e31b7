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
use tokio::time::{Instant, sleep_until, timeout};

use super::settling::Settling;
use crate::error::{StoreError, StoreErrorKind};
use crate::lease::{Clock, LeaseKey, Moment};
use crate::store::{Finish, MAX_BATCH, Store, answered};

const CALL: Duration = Duration::from_secs(5);
const FIRST_RETRY: Duration = Duration::from_millis(10);
const LAST_RETRY: Duration = Duration::from_secs(1);
/// The longest text, in characters, of an error that the store refused as it was.
const MAX_PLAIN: usize = 1024;

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
            Self::Run(run) => run.conclude(Some(written)),
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

/// What became of a batch: what is known, and why the rest is not. An end that is in neither was skipped,
/// and its lease is still ours.
#[derive(Default)]
struct Answer {
    verdicts: HashMap<LeaseKey, Written>,
    failure: Option<StoreError>,
}

impl Answer {
    /// Whether it is the ends that the store does not take, rather than any call.
    fn is_refused(&self) -> bool {
        let kind = self.failure.as_ref().map(StoreError::kind);
        kind == Some(StoreErrorKind::Other)
    }
}

/// Writes each end alone that is not known to be written. One that the store refuses is written with the
/// plainest form of its error's text: a database that is not in UTF-8 cannot hold every character.
async fn write_singly(store: &dyn Store, batch: &mut [Ending], answer: &mut Answer) {
    let mut failure = None;
    for ending in batch {
        if answer.verdicts.contains_key(ending.end.key()) {
            continue;
        }
        let mut alone = write_batch(store, std::slice::from_ref(ending)).await;
        if alone.is_refused()
            && let End::Finish(finish) = &mut ending.end
            && let Some(text) = &mut finish.error
        {
            *text = text.escape_default().take(MAX_PLAIN).collect();
            alone = write_batch(store, std::slice::from_ref(ending)).await;
        }
        let is_refused = alone.is_refused();
        answer.verdicts.extend(alone.verdicts);
        if let Some(error) = alone.failure {
            failure = Some(error);
            if !is_refused {
                // The store itself is in trouble by now.
                break;
            }
        }
    }
    answer.failure = failure.filter(|_| answer.verdicts.is_empty());
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

/// Writes what can be written. What one call has answered stays known where the next one fails.
async fn write_batch(store: &dyn Store, batch: &[Ending]) -> Answer {
    let mut answer = Answer::default();
    let written = timeout(CALL, write(store, batch, &mut answer.verdicts)).await;
    answer.failure = match written {
        Ok(written) => written.err(),
        Err(_) => {
            let call = "write the ends of runs";
            Some(StoreError::no_answer(store.name(), call, CALL))
        }
    };
    answer
}

async fn write(
    store: &dyn Store,
    batch: &[Ending],
    verdicts: &mut HashMap<LeaseKey, Written>,
) -> Result<(), StoreError> {
    let mut finishes = Vec::new();
    let mut releases = Vec::new();
    for ending in batch {
        match &ending.end {
            End::Finish(finish) => finishes.push(finish.clone()),
            End::Release(key, resource) => {
                releases.push(key.clone());
                releases.extend(resource.clone());
            }
        }
    }
    if !finishes.is_empty() {
        let jobs = store.finish(&finishes).await?;
        let resources = finishes
            .iter()
            .filter_map(|finish| finish.resource.as_ref());
        let keys = finishes.iter().map(|finish| &finish.key);
        note_written(keys.chain(resources), &jobs, verdicts);
    }
    if !releases.is_empty() {
        let jobs = store.release(&releases).await?;
        note_written(releases.iter(), &jobs, verdicts);
    }
    let missing: Vec<&LeaseKey> = batch
        .iter()
        .map(|ending| ending.end.key())
        .filter(|key| !verdicts.contains_key(key))
        .collect();
    if !missing.is_empty() {
        let jobs: Vec<i64> = missing.iter().map(|key| key.job).collect();
        let rows = store.inspect(&jobs).await?;
        for key in missing {
            if !rows.iter().any(|row| row.is_held_under(key)) {
                verdicts.insert(key.clone(), Written::NotOurs);
            }
        }
    }
    Ok(())
}

fn note_written<'a>(
    keys: impl Iterator<Item = &'a LeaseKey> + Clone,
    jobs: &[i64],
    verdicts: &mut HashMap<LeaseKey, Written>,
) {
    let answered = answered(keys.clone(), jobs);
    let written = keys.filter(|key| answered.contains(&(key.job, key.fence)));
    verdicts.extend(written.map(|key| (key.clone(), Written::Yes)));
}
