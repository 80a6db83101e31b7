//! How many runs there are, and how many are claimed ahead.
//!
//! A worker's **slots** are the runs that its handlers may make at once. Where runs are short, the next claim would take
//! longer than they do, and the slots would stand empty meanwhile: so the worker claims ahead what it does within
//! [`HORIZON`], by the number and the length of its runs lately. Runs of a second are not claimed ahead, for another worker
//! may have a slot for them; nor is anything where a task's time counts from the claim (`min_hold`, `stall`, a lease that
//! only its handler renews). What is claimed is leased, and renewed, from the claim on; it waits for a slot in the order of the
//! claims. What has waited for [`PATIENCE`] goes back unused, for the pace was wrong; so does all that waits at the stop.
//!
//! A slot is free when its handler has ended; the end is written after that, with those of others. So many ends may be
//! unwritten ([`UNWRITTEN`]) before slots wait for them: that is what a crash makes run twice at the most, beside what
//! was running.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::lease::Moment;
use crate::store::MAX_BATCH;

/// A claim and the writing of an end take some milliseconds each.
const HORIZON: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_millis(500);
const UNWRITTEN: usize = 2 * MAX_BATCH;
/// A pace that is measured over less than this is not believed.
const LEAST_SPAN: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Slots {
    total: usize,
    looks_ahead: bool,
    permits: Arc<Semaphore>,
    unwritten: Semaphore,
    /// Claims whose handlers have not ended: they wait or run.
    held: AtomicUsize,
    ended: AtomicUsize,
    /// How long these were in their slots, in nanoseconds.
    busy: AtomicU64,
    /// How many may wait.
    ahead: AtomicUsize,
    freed: Notify,
}

impl Slots {
    pub(super) fn new(total: usize, looks_ahead: bool) -> Self {
        Self {
            total,
            permits: Arc::new(Semaphore::new(total)),
            unwritten: Semaphore::new(UNWRITTEN),
            held: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            busy: AtomicU64::new(0),
            looks_ahead,
            ahead: AtomicUsize::new(0),
            freed: Notify::new(),
        }
    }

    /// How many may be claimed.
    pub(super) fn room(&self) -> usize {
        let most = self.total + self.ahead.load(Ordering::Relaxed);
        most.saturating_sub(self.held.load(Ordering::Relaxed))
            .min(MAX_BATCH)
    }

    /// Whether somebody who comes now need not wait.
    pub(super) fn is_free(&self) -> bool {
        self.permits.available_permits() > 0
    }

    /// It is worth a claim: there are empty slots, or half of those that wait have got theirs.
    pub(super) async fn worth_a_claim(&self) {
        loop {
            // It keeps what comes between the look and the wait.
            let freed = self.freed.notified();
            if self.is_worth_a_claim() {
                return;
            }
            freed.await;
        }
    }

    pub(super) fn is_worth_a_claim(&self) -> bool {
        self.room() >= (self.ahead.load(Ordering::Relaxed) / 2).max(1)
    }

    /// A place for a claim.
    pub(super) fn seat(self: &Arc<Self>) -> Seat {
        self.held.fetch_add(1, Ordering::Relaxed);
        Seat {
            slots: Arc::clone(self),
            slot: None,
        }
    }

    /// An end is to be written; waits where too many are.
    pub(super) async fn unwritten(&self) -> Option<SemaphorePermit<'_>> {
        self.unwritten.acquire().await.ok()
    }
}

/// The place of one claim, until its handler has ended.
#[derive(Debug)]
pub(super) struct Seat {
    slots: Arc<Slots>,
    slot: Option<(OwnedSemaphorePermit, Instant)>,
}

impl Seat {
    /// Waits for a slot; false if it is to go back.
    pub(super) async fn starts(&mut self, stop: &CancellationToken) -> bool {
        let slot = Arc::clone(&self.slots.permits);
        let slot = match Arc::clone(&slot).try_acquire_owned() {
            Ok(slot) => Some(slot),
            Err(_) => tokio::select! {
                biased;
                () = stop.cancelled() => None,
                slot = timeout(PATIENCE, slot.acquire_owned()) => match slot {
                    Ok(slot) => slot.ok(),
                    Err(_) => {
                        self.slots.ahead.store(0, Ordering::Relaxed);
                        None
                    }
                },
            },
        };
        self.slot = slot.map(|slot| (slot, Instant::now()));
        self.slot.is_some()
    }

    pub(super) fn slots(&self) -> Arc<Slots> {
        Arc::clone(&self.slots)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some((slot, from)) = self.slot.take() {
            let nanos = u64::try_from(from.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.slots.busy.fetch_add(nanos, Ordering::Relaxed);
            self.slots.ended.fetch_add(1, Ordering::Relaxed);
            drop(slot);
        }
        self.slots.held.fetch_sub(1, Ordering::Relaxed);
        if self.slots.is_worth_a_claim() {
            self.slots.freed.notify_one();
        }
    }
}

/// What runs have taken lately.
#[derive(Debug, Default)]
pub(super) struct Pace {
    before: Option<(Moment, usize, u64)>,
    /// Ends a second.
    rate: f64,
    /// Seconds that a run is in its slot.
    length: f64,
}

impl Pace {
    /// Measures since the last call, and lets so many be claimed ahead. Both the number of the ends and the length of the
    /// runs bound it: long runs that end all at once are no pace, nor are short ones that have one slot among many.
    pub(super) fn set(&mut self, slots: &Slots, now: Moment) {
        let ended = slots.ended.load(Ordering::Relaxed);
        let busy = slots.busy.load(Ordering::Relaxed);
        let (then, ends, was_busy) = *self.before.get_or_insert((now, ended, busy));
        let span = now.since(then);
        if span < LEAST_SPAN {
            return;
        }
        self.before = Some((now, ended, busy));
        let runs = ended.wrapping_sub(ends) as f64;
        let span = span.as_secs_f64();
        let horizon = HORIZON.as_secs_f64();
        // What was longer ago than the horizon counts for little.
        let weight = 1.0 - (-span / horizon).exp();
        self.rate += (runs / span - self.rate) * weight;
        if runs > 0.0 {
            let length = busy.wrapping_sub(was_busy) as f64 / 1e9 / runs;
            self.length = (self.length + length) / 2.0;
        }
        let by_length = slots.total as f64 * horizon / self.length.max(1e-6);
        let ahead = (2.0 * self.rate * horizon).min(by_length);
        let ahead = (ahead as usize).min(if slots.looks_ahead { MAX_BATCH } else { 0 });
        slots.ahead.store(ahead, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::from_nanos(millis * 1_000_000)
    }

    async fn run(slots: &Arc<Slots>, stop: &CancellationToken, runs: usize) {
        for _ in 0..runs {
            let mut seat = slots.seat();
            assert!(seat.starts(stop).await);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn short_runs_are_claimed_ahead_and_long_ones_are_not() {
        let (slots, stop) = (Arc::new(Slots::new(4, true)), CancellationToken::new());
        let mut pace = Pace::default();
        pace.set(&slots, at(0));
        assert_eq!(slots.room(), 4);
        run(&slots, &stop, 100).await;
        pace.set(&slots, at(10));
        let room = slots.room();
        assert!((100..=4 + MAX_BATCH).contains(&room), "{room}");
        // A while later it is forgotten.
        pace.set(&slots, at(500));
        assert_eq!(slots.room(), 4);
        // Four of a second each, which end at once.
        let mut seats: Vec<Seat> = (0..4).map(|_| slots.seat()).collect();
        for seat in &mut seats {
            assert!(seat.starts(&stop).await);
        }
        tokio::time::advance(Duration::from_secs(1)).await;
        pace.set(&slots, at(1_499));
        drop(seats);
        pace.set(&slots, at(1_501));
        assert_eq!(slots.room(), 4);
    }

    #[tokio::test]
    async fn nothing_is_claimed_ahead_where_time_counts_from_the_claim() {
        let (slots, stop) = (Arc::new(Slots::new(4, false)), CancellationToken::new());
        let mut pace = Pace::default();
        pace.set(&slots, at(0));
        run(&slots, &stop, 100).await;
        pace.set(&slots, at(10));
        assert_eq!(slots.room(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_too_long_or_at_the_stop_goes_back() {
        let (slots, stop) = (Arc::new(Slots::new(1, true)), CancellationToken::new());
        let mut running = slots.seat();
        assert!(running.starts(&stop).await);
        let from = tokio::time::Instant::now();
        assert!(!slots.seat().starts(&stop).await);
        assert_eq!(from.elapsed(), PATIENCE);
        stop.cancel();
        let from = tokio::time::Instant::now();
        assert!(!slots.seat().starts(&stop).await);
        assert_eq!(from.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn so_many_ends_are_unwritten_at_most() {
        let slots = Slots::new(1, true);
        let mut unwritten = Vec::new();
        for _ in 0..UNWRITTEN {
            unwritten.push(slots.unwritten().await);
        }
        let more = timeout(Duration::from_secs(1), slots.unwritten());
        assert!(more.await.is_err());
        unwritten.pop();
        assert!(slots.unwritten().await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_claim_is_worth_it_when_half_of_those_that_wait_have_started() {
        let (slots, stop) = (Arc::new(Slots::new(2, true)), CancellationToken::new());
        slots.ahead.store(10, Ordering::Relaxed);
        let mut seats: Vec<Seat> = (0..12).map(|_| slots.seat()).collect();
        let waits = async |slots: &Slots| {
            timeout(Duration::from_secs(1), slots.worth_a_claim())
                .await
                .is_err()
        };
        for _ in 0..4 {
            assert!(seats.pop().expect("some are left").starts(&stop).await);
            assert!(waits(&slots).await);
        }
        assert!(seats.pop().expect("some are left").starts(&stop).await);
        assert!(!waits(&slots).await);
    }
}
