//! When the scheduler looks for work next.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::turns::Turns;
use crate::lease::{Clock, Moment};
use crate::store::Looked;

/// A moment that anybody may bring forward, and one waits for.
#[derive(Debug)]
pub(crate) struct Alarm {
    at: AtomicU64,
    /// What the store's clock shows, in microseconds, less what ours does.
    offset: AtomicI64,
    /// When something falls due that others look for as well.
    turns: Mutex<Turns>,
    /// Whether the store announces work at present.
    announced: AtomicBool,
    moved: Notify,
    clock: Arc<dyn Clock>,
}

impl Alarm {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            at: AtomicU64::new(0),
            offset: AtomicI64::new(0),
            turns: Mutex::default(),
            announced: AtomicBool::new(false),
            moved: Notify::new(),
            clock,
        }
    }

    /// Rings at once.
    pub(crate) fn now(&self) {
        self.bring_forward(Moment::from_nanos(0));
    }

    /// Rings `delay` from now at the latest.
    pub(crate) fn within(&self, delay: Duration) {
        self.bring_forward(self.clock.now() + delay);
    }

    /// Rings when the store's clock shows `at`, in microseconds since the Unix epoch.
    pub(crate) fn at_store_time(&self, at: i64) {
        self.bring_forward(self.ours(at));
    }

    /// By its look at `now`, something happens `next`, in microseconds by the store's clock: rings then, or a little later
    /// where another worker is first.
    pub(super) fn saw(&self, now: i64, next: Option<i64>) {
        self.turns().saw(now, next);
        self.moved.notify_one();
    }

    /// The same, by the word of whoever has ended a run. Of what is overdue each hears now.
    pub(super) fn announced(&self, at: i64) {
        let at = at.max(self.store_time());
        self.turns().announced(at);
        self.moved.notify_one();
    }

    /// Another worker with the same tasks has looked, and found something.
    pub(super) fn others_looked(&self, looked: &Looked) {
        // The store showed it before we heard of it.
        let offset = looked.at.saturating_sub(self.our_time());
        self.offset.fetch_max(offset, Ordering::SeqCst);
        self.turns().heard(looked);
        self.moved.notify_one();
    }

    /// This worker has found something when it was time to look.
    pub(super) fn found_in_turn(&self) {
        self.turns().found();
    }

    /// When our clock shows what the store's shows as `at`.
    fn ours(&self, at: i64) -> Moment {
        let left = at.saturating_sub(self.offset.load(Ordering::SeqCst));
        Moment::from_nanos(u64::try_from(left).unwrap_or(0).saturating_mul(1_000))
    }

    /// Ours, in microseconds.
    fn our_time(&self) -> i64 {
        i64::try_from(self.clock.now().as_nanos() / 1_000).unwrap_or(i64::MAX)
    }

    /// The store's, as far as is known.
    fn store_time(&self) -> i64 {
        self.our_time()
            .saturating_add(self.offset.load(Ordering::SeqCst))
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns what the store's clock showed, read just before now: so the alarm rings late by at most
    /// one round trip, never early, when looking would be in vain.
    pub(crate) fn set_store_time(&self, shown: i64) {
        self.offset
            .store(shown.saturating_sub(self.our_time()), Ordering::SeqCst);
    }

    /// Whether announcements arrive: then polling is only a safety net.
    pub(crate) fn is_announced(&self) -> bool {
        self.announced.load(Ordering::SeqCst)
    }

    pub(crate) fn set_announced(&self, announced: bool) {
        self.announced.store(announced, Ordering::SeqCst);
        if !announced {
            self.turns().alone();
        }
    }

    /// Takes back all that was set. What is set after this call counts again: so the scheduler calls
    /// it *before* it looks, and misses nothing that is announced while it does. Answers whether something has fallen due
    /// that others look for as well.
    pub(crate) fn clear(&self) -> bool {
        self.at.store(u64::MAX, Ordering::SeqCst);
        self.turns().come(self.store_time())
    }

    /// Waits until the moment has come.
    pub(crate) async fn rung(&self) {
        loop {
            let moved = self.moved.notified();
            let at = Moment::from_nanos(self.at.load(Ordering::SeqCst));
            let in_turn = self.turns().next().map(|next| self.ours(next));
            let at = in_turn.map_or(at, |in_turn| at.min(in_turn));
            let left = at.since(self.clock.now());
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = moved => {}
                // A timer may fire a little early; then the loop sleeps for the rest.
                () = tokio::time::sleep(left.min(Duration::from_secs(3600))) => {}
            }
        }
    }

    fn bring_forward(&self, at: Moment) {
        let before = self.at.fetch_min(at.as_nanos(), Ordering::SeqCst);
        if at.as_nanos() < before {
            // One scheduler waits; `notify_one` keeps the permit if it is not waiting yet.
            self.moved.notify_one();
        }
    }
}
