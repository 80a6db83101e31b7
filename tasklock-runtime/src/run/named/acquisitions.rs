//! Sends acquisitions in batches: what gathers while one call is under way goes into the next.
//!
//! A **lone** caller's goes out at once; nothing waits for a timer. Where a call takes longer than [`SLOW`], for one of its
//! names is being made in somebody's open transaction, say, a second one may go beside it, and no third: a slow name
//! holds up those that were sent with it, for as long as such a transaction may be idle (2 s), and others only
//! where there is another slow one. A batch has no name twice: who asks for a name that is asked for already goes into the
//! next.
//!
//! A batch is sent by a task on the runtime of its first caller, who waits for it, so that none depends on a runtime that nobody
//! drives. What the store answers each caller hears of its own name. An error all of them hear, unless it is about what was
//! asked: then each is asked for alone, and one that the store cannot take fails no other.
//!
//! # What is left behind
//!
//! | what happens | what is left | who mends it |
//! | --- | --- | --- |
//! | a caller is dropped before its batch was sent | nothing: it is not sent | |
//! | while the batch is under way | perhaps a lease of a token that nobody works under | the batch goes on for the others; at its answer what nobody hears of is given back by its token |
//! | with the answer on its way to it | the same | the same: an answer that is dropped gives back what it tells of |
//! | the task is dropped: its runtime ends | perhaps leases of the batch | its callers are told that there was no answer, and what they may have is given back on their own runtimes; those not sent yet send themselves |
//! | the process dies | perhaps leases of the batch | they expire |
//!
//! None of them is renewed: the heartbeat has a lease from its caller, who makes the guard of the answer.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::CALL;
use super::doubt::Doubt;
use crate::error::{StoreError, StoreErrorKind};
use crate::lease::Moment;
use crate::run::heart::Heart;
use crate::run::heartbeat::Heartbeat;
use crate::store::{Acquire, Acquired, MAX_BATCH};

/// After so long another batch may go out beside one.
const SLOW: Duration = Duration::from_millis(20);
/// How many calls are under way at once, of a pool's six connections.
const CALLS: usize = 2;

/// What callers ask for, and the calls that are under way.
#[derive(Default)]
pub(in crate::run) struct Acquisitions(Mutex<State>);

#[derive(Default)]
struct State {
    waiting: VecDeque<Asking>,
    /// Since when each call is.
    calls: [Option<Instant>; CALLS],
}

/// Not sent yet.
struct Asking {
    wanted: Acquire,
    heartbeat: Arc<Heartbeat>,
    runtime: Handle,
    answer: oneshot::Sender<Result<Told, StoreError>>,
}

/// What the store has answered.
pub(super) struct Told {
    pub(super) acquired: Acquired,
    /// When it was asked.
    pub(super) sent: Moment,
    /// Gives it back, until it is resolved.
    pub(super) doubt: Doubt,
}

impl Heart {
    /// Asks the store, together with other callers. `wanted` makes what is asked for, each time with a fresh token.
    pub(super) async fn acquire(
        self: &Arc<Self>,
        heartbeat: &Arc<Heartbeat>,
        wanted: impl Fn() -> Acquire,
    ) -> Result<Told, StoreError> {
        loop {
            let (answer, mut told) = oneshot::channel();
            self.acquisitions().lock().waiting.push_back(Asking {
                wanted: wanted(),
                heartbeat: Arc::clone(heartbeat),
                runtime: Handle::current(),
                answer,
            });
            self.send_next();
            let told = tokio::select! {
                told = &mut told => told,
                () = sleep(SLOW) => {
                    self.send_next();
                    told.await
                }
            };
            // An error: it was not sent, for whoever was to send it has gone.
            if let Ok(told) = told {
                return told;
            }
        }
    }

    /// Sends what has gathered, if it is its turn.
    fn send_next(self: &Arc<Self>) {
        let mut state = self.acquisitions().lock();
        let Some(place) = state.free_place() else {
            return;
        };
        let batch = state.batch();
        let Some(first) = batch.first() else {
            return;
        };
        let runtime = first.runtime.clone();
        state.calls[place] = Some(Instant::now());
        drop(state);
        let turn = Turn {
            heart: Arc::clone(self),
            place,
            ended: false,
        };
        runtime.spawn(turn.send(batch));
    }
}

impl Acquisitions {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// For a call, while all that are under way are slow.
    fn free_place(&self) -> Option<usize> {
        let is_slow = |since: &Instant| since.elapsed() >= SLOW;
        if !self.calls.iter().flatten().all(is_slow) {
            return None;
        }
        self.calls.iter().position(Option::is_none)
    }

    /// Each name once; what is left waits for the next one.
    fn batch(&mut self) -> Vec<Asking> {
        let mut names = HashSet::new();
        let mut batch = Vec::new();
        for asking in std::mem::take(&mut self.waiting) {
            if asking.answer.is_closed() {
                continue;
            }
            if batch.len() < MAX_BATCH && names.insert(asking.wanted.name.clone()) {
                batch.push(asking);
            } else {
                self.waiting.push_back(asking);
            }
        }
        batch
    }
}

/// A call's place among those under way.
struct Turn {
    heart: Arc<Heart>,
    place: usize,
    ended: bool,
}

impl Turn {
    async fn send(mut self, batch: Vec<Asking>) {
        for asking in &batch {
            asking.heartbeat.stays().await;
        }
        let batch: Vec<Sent> = batch
            .into_iter()
            .map(|asking| Sent::new(&self.heart, asking))
            .collect();
        self.ask(batch).await;
        self.ended = true;
        let heart = Arc::clone(&self.heart);
        drop(self);
        heart.send_next();
    }

    async fn ask(&self, batch: Vec<Sent>) {
        let wanted: Vec<Acquire> = batch.iter().map(|sent| sent.wanted.clone()).collect();
        let (sent, answer) = self.call(&wanted).await;
        match answer {
            Ok(acquired) => {
                for (asked, acquired) in batch.into_iter().zip(acquired) {
                    asked.tell(acquired, sent);
                }
            }
            Err(error) if error.kind() == StoreErrorKind::Other && batch.len() > 1 => {
                for asked in batch {
                    let (sent, answer) = self.call(std::slice::from_ref(&asked.wanted)).await;
                    match answer.map(|answer| answer.into_iter().next()) {
                        Ok(Some(acquired)) => asked.tell(acquired, sent),
                        Ok(None) => {}
                        Err(error) => asked.fail(error),
                    }
                }
            }
            Err(error) => batch
                .into_iter()
                .for_each(|asked| asked.fail(error.clone())),
        }
    }

    async fn call(&self, wanted: &[Acquire]) -> (Moment, Result<Vec<Acquired>, StoreError>) {
        let store = self.heart.store();
        let sent = self.heart.clock().now();
        let answer = timeout(CALL, store.acquire(wanted)).await;
        let answer = answer.unwrap_or_else(|_| Err(no_answer(&self.heart)));
        (sent, answer)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.heart.acquisitions().lock();
        state.calls[self.place] = None;
        // Nobody sends them now but they themselves.
        let left = if self.ended {
            VecDeque::new()
        } else {
            std::mem::take(&mut state.waiting)
        };
        drop(state);
        drop(left);
    }
}

/// On its way to the store, or there already. Dropped without an answer, it tells its caller that there is none.
struct Sent {
    wanted: Acquire,
    heart: Arc<Heart>,
    /// Both are there until it is told.
    waits: Option<(oneshot::Sender<Result<Told, StoreError>>, Doubt)>,
}

impl Sent {
    fn new(heart: &Arc<Heart>, asking: Asking) -> Self {
        let doubt = Doubt::new(heart, &asking.wanted.owner, asking.runtime);
        Self {
            wanted: asking.wanted,
            heart: Arc::clone(heart),
            waits: Some((asking.answer, doubt)),
        }
    }

    fn tell(mut self, acquired: Acquired, sent: Moment) {
        if let Some((answer, mut doubt)) = self.waits.take() {
            if matches!(acquired, Acquired::Held(_)) {
                doubt.resolve();
            }
            let told = Told {
                acquired,
                sent,
                doubt,
            };
            // Where nobody hears it, it is dropped here.
            let _ = answer.send(Ok(told));
        }
    }

    fn fail(mut self, error: StoreError) {
        if let Some((answer, _doubt)) = self.waits.take() {
            let _ = answer.send(Err(error));
        }
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if let Some((answer, _doubt)) = self.waits.take() {
            let _ = answer.send(Err(no_answer(&self.heart)));
        }
    }
}

fn no_answer(heart: &Heart) -> StoreError {
    StoreError::no_answer(heart.store().name(), "acquire a lease", CALL)
}
