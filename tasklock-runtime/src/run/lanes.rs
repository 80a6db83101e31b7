//! Who runs what was claimed.
//!
//! What a claim brings goes into one line, in its order. **Lanes** take from it: tasks that make one run after the other
//! until the line is empty, as many as the worker has slots at the most, and fewer where less waits. So a run costs no
//! task of its own, and a lane does not wait for anything between two runs: the end of the first goes to whoever writes
//! ends (`completion.rs`), with all that is left to do of the run once it is written (`settling.rs`).
//!
//! A lane counts while it lives, under the line's lock: it leaves under the lock, having seen the line empty; and who
//! puts something into the line opens, under the lock, the lanes that are then missing. So nothing waits in the line
//! while there are fewer lanes than slots, but what its task's share leaves no slot for (`shares.rs`).
//!
//! What a lane has passed over waits for the end of a run of the same task, or for the next claim, which opens lanes; half a
//! second at the most, like all that waits. Where the worker is dropped, its lanes are, each with the run in it, and what
//! waits in the line.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, sleep_until};

use super::execution::{Bench, Run};
use super::settling::Settling;
use super::slots::{PATIENCE, Seat, Unwritten};
use super::suspects::{Trial, tried};
use crate::task::Outcome;

/// A run that was claimed.
pub(super) struct Waiting {
    pub(super) run: Box<Run>,
    pub(super) seat: Seat,
    pub(super) trial: Option<Trial>,
    pub(super) since: Instant,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    lanes: usize,
}

/// The line, and how many take from it.
pub(super) struct Line {
    slots: usize,
    state: Mutex<State>,
}

impl Line {
    pub(super) fn new(slots: usize) -> Arc<Self> {
        Arc::new(Self {
            slots,
            state: Mutex::default(),
        })
    }

    /// Lets these wait, and opens the lanes that are missing.
    pub(super) fn add(
        self: &Arc<Self>,
        runs: impl IntoIterator<Item = Waiting>,
        lanes: &mut JoinSet<()>,
        bench: &Arc<Bench>,
    ) {
        let mut state = self.lock();
        state.waiting.extend(runs);
        let missing = (self.slots - state.lanes).min(state.waiting.len());
        state.lanes += missing;
        drop(state);
        for _ in 0..missing {
            let lane = Lane {
                line: Arc::clone(self),
                has_left: false,
            };
            lanes.spawn(take_from(lane, Arc::clone(bench)));
        }
    }

    /// Waits until something has waited for too long.
    pub(super) async fn overdue(&self) {
        let first = self.lock().waiting.front().map(|first| first.since);
        match first {
            Some(since) => sleep_until(since + PATIENCE).await,
            None => std::future::pending().await,
        }
    }

    /// Gives back what has waited for so long, unused; answers whether that was for want of slots.
    pub(super) async fn give_back(&self, patience: Duration, bench: &Arc<Bench>) -> bool {
        let mut none_was_free = false;
        while let Some(late) = self.late(patience) {
            let Waiting {
                run, seat, trial, ..
            } = late;
            none_was_free |= seat.may_start();
            let unwritten = seat.slots().unused();
            Settling::of(run, Outcome::Interrupted, Some(unwritten), trial, bench)
                .await
                .hand_in();
            drop(seat);
        }
        none_was_free
    }

    fn late(&self, patience: Duration) -> Option<Waiting> {
        let mut state = self.lock();
        let first = state.waiting.front()?;
        if first.since.elapsed() < patience {
            return None;
        }
        state.waiting.pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The scheduler's: where it is dropped, nothing waits any more, though a lane may live on whose handler blocks its
/// thread.
pub(super) struct LineOwner(pub(super) Arc<Line>);

impl Drop for LineOwner {
    fn drop(&mut self) {
        let left = std::mem::take(&mut self.0.lock().waiting);
        // Without the lock.
        drop(left);
    }
}

/// One of the lanes, while it lives.
struct Lane {
    line: Arc<Line>,
    has_left: bool,
}

impl Lane {
    /// The next run whose task may have a slot, which it has from here on. Where there is none, this lane has left:
    /// what it passed over is for the lane in which a run of that task ends.
    fn next(&mut self) -> Option<Waiting> {
        let mut state = self.line.lock();
        let mut waiting = state.waiting.iter();
        let first = waiting.position(|run| run.seat.may_start());
        let mut next = first.and_then(|first| state.waiting.remove(first));
        if let Some(next) = &mut next {
            next.seat.starts();
        }
        if next.is_none() {
            state.lanes -= 1;
            self.has_left = true;
        }
        next
    }
}

/// Where it is dropped in the midst of a run.
impl Drop for Lane {
    fn drop(&mut self) {
        if !self.has_left {
            self.line.lock().lanes -= 1;
        }
    }
}

async fn take_from(mut lane: Lane, bench: Arc<Bench>) {
    while let Some(next) = lane.next() {
        make(next, &bench).await;
        // Handlers that never wait would else keep a thread of the runtime to themselves.
        consume_budget().await;
    }
}

async fn make(next: Waiting, bench: &Arc<Bench>) {
    let Waiting {
        run,
        seat,
        mut trial,
        ..
    } = next;
    // Pinned here, once: what takes a future by value keeps it twice, in every lane while its handler runs.
    let outcome = {
        let making = pin!(run.make(bench));
        tried(making, &mut trial).await
    };
    // The slot is for the next one; the end is written with those of others.
    let unwritten = seat.slots().unwritten().await;
    drop(seat);
    if run.keeping.is_beating() {
        // A renewal is under way, on a store that may be slow: the lane goes on.
        let bench = Arc::clone(bench);
        tokio::spawn(async move { settle(run, outcome, unwritten, trial, &bench).await });
    } else {
        settle(run, outcome, unwritten, trial, bench).await;
    }
}

async fn settle(
    run: Box<Run>,
    outcome: Outcome,
    unwritten: Unwritten,
    trial: Option<Trial>,
    bench: &Arc<Bench>,
) {
    let settling = Settling::of(run, outcome, Some(unwritten), trial, bench);
    settling.await.hand_in();
}
