//! Enqueueing by many callers at once, in statements that they share.
//!
//! A commit costs the same for one job as for a hundred. So while a call to the store is under way, the jobs of those who
//! come meanwhile are gathered, and the next call writes them all. Who comes alone waits for nobody: the first call is made
//! by its caller itself, and nothing is gathered but behind it.
//!
//! One call is under way at a time. Whoever makes it has the **turn**: the first caller, or a task that writes what was
//! gathered. A turn that ends, or is dropped in its midst, hands on to such a task if somebody waits, on the runtime of the
//! first who does, so nobody waits for a caller that has gone, or for a runtime that nobody drives. Where that runtime
//! has ended its caller has, too, and the next one's is taken. A task's call has a time-out, for nobody else could end it.
//! A caller that goes while its job is gathered takes the job along; once the call is under
//! way the job may be written or not, as ever.
//!
//! Jobs with a unique key are not gathered: each may have to wait for a transaction of somebody else's that has the
//! key, and others would wait with it. Nor are those within a transaction. Where the store refuses something in what
//! was gathered, each job is written alone, and each caller is told of its own.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::timeout;

use super::heart::Heart;
use crate::error::{StoreError, StoreErrorKind};
use crate::store::{Enqueued, NewJob};

/// How long a task's call may take.
const CALL: Duration = Duration::from_secs(5);
/// The most jobs of one call, and the most bytes of their payloads (one job may have more).
const MOST_JOBS: usize = 1_000;
const MOST_BYTES: usize = 4 << 20;

type Answer = Result<Enqueued, StoreError>;

/// Where the callers of one process meet.
#[derive(Default)]
pub(super) struct Gathered(Mutex<State>);

#[derive(Default)]
struct State {
    is_under_way: bool,
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    job: NewJob,
    caller: oneshot::Sender<Answer>,
    runtime: Handle,
}

impl Gathered {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What goes into the next call; without those whose callers have gone. The turn ends where nobody waits.
    fn take(&self) -> Vec<Waiting> {
        let mut state = self.lock();
        state.waiting.retain(|waiting| !waiting.caller.is_closed());
        let mut bytes = 0;
        let fits = |waiting: &&Waiting| {
            bytes += waiting.job.payload.as_ref().map_or(0, String::len);
            bytes <= MOST_BYTES
        };
        let fitting = state
            .waiting
            .iter()
            .take(MOST_JOBS)
            .take_while(fits)
            .count();
        let most = fitting.max(1).min(state.waiting.len());
        state.is_under_way = most > 0;
        state.waiting.drain(..most).collect()
    }
}

impl Heart {
    /// Enqueues a job without a key, alone or with those of others.
    pub(crate) async fn enqueue(self: &Arc<Self>, job: NewJob) -> Answer {
        // It panics where there is none: before anybody's turn is taken.
        let runtime = Handle::current();
        let turn = {
            let mut state = self.gathered().lock();
            if state.is_under_way {
                let (caller, answer) = oneshot::channel();
                state.waiting.push_back(Waiting {
                    job,
                    caller,
                    runtime,
                });
                Err(answer)
            } else {
                state.is_under_way = true;
                Ok((Turn::of_caller(self), job))
            }
        };
        match turn {
            Ok((turn, job)) => {
                let answer = write(self, std::slice::from_ref(&job)).await;
                drop(turn);
                answer?.into_iter().next().ok_or_else(|| unanswered(self))
            }
            Err(answer) => answer.await.unwrap_or_else(|_| Err(unanswered(self))),
        }
    }
}

async fn write(heart: &Heart, jobs: &[NewJob]) -> Result<Vec<Enqueued>, StoreError> {
    let _turn = heart.turn().await;
    heart.store().enqueue(jobs).await
}

/// The same for those who wait, whom nobody else would free.
async fn write_in_time(heart: &Heart, jobs: &[NewJob]) -> Result<Vec<Enqueued>, StoreError> {
    let written = timeout(CALL, write(heart, jobs)).await;
    written.unwrap_or_else(|_| Err(StoreError::no_answer(heart.store().name(), "enqueue", CALL)))
}

/// Writes what was gathered, until nothing is.
async fn write_all(turn: Turn) {
    let heart = Arc::clone(&turn.heart);
    loop {
        let waiting = heart.gathered().take();
        if waiting.is_empty() {
            // The turn has ended.
            turn.over();
            return;
        }
        let (jobs, callers): (Vec<NewJob>, Vec<_>) = waiting
            .into_iter()
            .map(|waiting| (waiting.job, waiting.caller))
            .unzip();
        match write_in_time(&heart, &jobs).await {
            Ok(enqueued) => {
                for (caller, enqueued) in callers.into_iter().zip(enqueued) {
                    let _ = caller.send(Ok(enqueued));
                }
            }
            Err(error) if is_refusal(&error) && jobs.len() > 1 => {
                for (caller, job) in callers.into_iter().zip(&jobs) {
                    let answer = write_in_time(&heart, std::slice::from_ref(job)).await;
                    let first = |enqueued: Vec<Enqueued>| enqueued.into_iter().next();
                    let answer = answer.and_then(|it| first(it).ok_or_else(|| unanswered(&heart)));
                    let _ = caller.send(answer);
                }
            }
            Err(error) => {
                for caller in callers {
                    let _ = caller.send(Err(error.clone()));
                }
            }
        }
        // Those who were told may enqueue again: let them, before the next call.
        yield_now().await;
    }
}

/// Whether it says something of the jobs; then nothing of the call was written.
fn is_refusal(error: &StoreError) -> bool {
    !matches!(
        error.kind(),
        StoreErrorKind::Unavailable | StoreErrorKind::Busy
    )
}

/// The call that had the job was dropped with the runtime that made it.
fn unanswered(heart: &Heart) -> StoreError {
    StoreError {
        store: heart.store().name().to_owned(),
        call: "enqueue",
        kind: StoreErrorKind::Unavailable,
        message: "the call was dropped: it is not known whether the job was written".to_owned(),
    }
}

/// The right to make the next call.
struct Turn {
    heart: Arc<Heart>,
    /// A task has it, for the first who waits.
    is_task: bool,
    is_over: bool,
}

impl Turn {
    fn of_caller(heart: &Arc<Heart>) -> Self {
        Self {
            heart: Arc::clone(heart),
            is_task: false,
            is_over: false,
        }
    }

    fn over(mut self) {
        self.is_over = true;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut state = self.heart.gathered().lock();
        // The runtime on which a task was dropped is that of the first: it has ended.
        let gone = self.is_task.then(|| state.waiting.pop_front()).flatten();
        state.waiting.retain(|waiting| !waiting.caller.is_closed());
        let next = state.waiting.front().map(|first| first.runtime.clone());
        state.is_under_way = next.is_some();
        drop(state);
        drop(gone);
        if let Some(runtime) = next {
            let turn = Self {
                heart: Arc::clone(&self.heart),
                is_task: true,
                is_over: false,
            };
            drop(runtime.spawn(write_all(turn)));
        }
    }
}
