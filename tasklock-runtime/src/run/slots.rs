//! How many runs there are, and how many are claimed ahead.
//!
//! A worker's **slots** are the runs that its handlers may make at once. Where runs are short, the next claim would take
//! longer than they do, and the slots would stand empty meanwhile: so the worker claims ahead what it does within
//! some milliseconds, by the number and the length of its runs lately (`pace.rs`). Runs of a second are not claimed ahead, for another worker
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

use tokio::sync::Notify;
use tokio::time::Instant;

use super::alarm::Alarm;
use super::shares::Shares;
use crate::store::MAX_BATCH;

/// How long what is claimed ahead may wait.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);
const UNWRITTEN: usize = 2 * MAX_BATCH;

#[derive(Debug)]
pub(super) struct Slots {
    total: usize,
    looks_ahead: bool,
    unwritten: AtomicUsize,
    written: Notify,
    /// Claims whose handlers have not ended: they wait or run.
    held: AtomicUsize,
    ended: AtomicUsize,
    /// How long these were in their slots, in nanoseconds.
    busy: AtomicU64,
    /// How many may wait.
    ahead: AtomicUsize,
    freed: Notify,
    pub(super) shares: Shares,
    alarm: Arc<Alarm>,
}

impl Slots {
    pub(super) fn new(
        total: usize,
        looks_ahead: bool,
        shares: Shares,
        alarm: Arc<Alarm>,
    ) -> Arc<Self> {
        Arc::new(Self {
            total,
            unwritten: AtomicUsize::new(0),
            written: Notify::new(),
            held: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            busy: AtomicU64::new(0),
            looks_ahead,
            ahead: AtomicUsize::new(0),
            freed: Notify::new(),
            shares,
            alarm,
        })
    }

    /// How many may be claimed.
    pub(super) fn room(&self) -> usize {
        let most = self.total + self.ahead.load(Ordering::Relaxed);
        most.saturating_sub(self.held.load(Ordering::Relaxed))
            .min(MAX_BATCH)
    }

    /// Whether somebody who comes now need not wait.
    pub(super) fn is_free(&self) -> bool {
        self.held.load(Ordering::Relaxed) < self.total
    }

    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// How many runs were made, and how long they were in their slots, in nanoseconds.
    pub(super) fn made(&self) -> (usize, u64) {
        let ended = self.ended.load(Ordering::Relaxed);
        (ended, self.busy.load(Ordering::Relaxed))
    }

    /// So many may wait from now on.
    pub(super) fn set_ahead(&self, ahead: usize) {
        let most = if self.looks_ahead { MAX_BATCH } else { 0 };
        self.ahead.store(ahead.min(most), Ordering::Relaxed);
    }

    /// The pace was wrong: nothing is claimed ahead before the next measurement.
    pub(super) fn slow_down(&self) {
        self.ahead.store(0, Ordering::Relaxed);
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

    /// A place for a claim of this task.
    pub(super) fn seat(self: &Arc<Self>, task: &str) -> Seat {
        self.held.fetch_add(1, Ordering::Relaxed);
        let task = self.shares.number(task);
        self.shares.claimed(task);
        Seat {
            slots: Arc::clone(self),
            task,
            started: None,
        }
    }

    /// An end is to be written; waits where too many are.
    pub(super) async fn unwritten(self: Arc<Self>) -> Unwritten {
        loop {
            let written = self.written.notified();
            let more = |unwritten| (unwritten < UNWRITTEN).then_some(unwritten + 1);
            let counted = self
                .unwritten
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
            if counted.is_ok() {
                break;
            }
            written.await;
        }
        Unwritten(self)
    }

    /// The same for what has not run, and costs nothing if it is lost: it does not wait.
    pub(super) fn unused(self: Arc<Self>) -> Unwritten {
        self.unwritten.fetch_add(1, Ordering::AcqRel);
        Unwritten(self)
    }

    /// Waits until all ends are written.
    pub(super) async fn all_written(&self) {
        loop {
            let written = self.written.notified();
            if self.unwritten.load(Ordering::Acquire) == 0 {
                return;
            }
            written.await;
        }
    }
}

/// An end that is not written, until this is dropped.
#[derive(Debug)]
pub(super) struct Unwritten(Arc<Slots>);

impl Drop for Unwritten {
    fn drop(&mut self) {
        let before = self.0.unwritten.fetch_sub(1, Ordering::AcqRel);
        // It made room, or was the last.
        if before == UNWRITTEN || before == 1 {
            self.0.written.notify_waiters();
        }
    }
}

/// The place of one claim, until its handler has ended.
#[derive(Debug)]
pub(super) struct Seat {
    slots: Arc<Slots>,
    task: Option<usize>,
    started: Option<Instant>,
}

impl Seat {
    /// Whether its task may have one more slot.
    pub(super) fn may_start(&self) -> bool {
        self.slots.shares.may_start(self.task)
    }

    /// It has got a slot.
    pub(super) fn starts(&mut self) {
        self.slots.shares.started(self.task);
        self.started = Some(Instant::now());
    }

    pub(super) fn slots(&self) -> Arc<Slots> {
        Arc::clone(&self.slots)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let ran = self.started.take().map(|from| from.elapsed());
        if self.slots.shares.ended(self.task, ran) {
            self.slots.alarm.now();
        }
        if let Some(ran) = ran {
            let nanos = u64::try_from(ran.as_nanos()).unwrap_or(u64::MAX);
            self.slots.busy.fetch_add(nanos, Ordering::Relaxed);
            self.slots.ended.fetch_add(1, Ordering::Relaxed);
        }
        self.slots.held.fetch_sub(1, Ordering::Relaxed);
        if self.slots.is_worth_a_claim() {
            self.slots.freed.notify_one();
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use tokio::time::timeout;

    use super::*;
    use crate::lease::BootClock;

    pub(in crate::run) fn slots(total: usize, looks_ahead: bool) -> Arc<Slots> {
        let shares = Shares::new(total, 1, ["task"].into_iter());
        let alarm = Arc::new(Alarm::new(Arc::new(BootClock)));
        Slots::new(total, looks_ahead, shares, alarm)
    }

    #[tokio::test(start_paused = true)]
    async fn so_many_ends_are_unwritten_at_most() {
        let slots = slots(1, true);
        let mut unwritten = Vec::new();
        for _ in 0..UNWRITTEN {
            unwritten.push(Arc::clone(&slots).unwritten().await);
        }
        let wait = Duration::from_secs(1);
        let more = timeout(wait, Arc::clone(&slots).unwritten());
        assert!(more.await.is_err());
        assert!(timeout(wait, slots.all_written()).await.is_err());
        unwritten.pop();
        drop(Arc::clone(&slots).unwritten().await);
        unwritten.clear();
        slots.all_written().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_claim_is_worth_it_when_half_of_those_that_wait_have_started() {
        let slots = slots(2, true);
        slots.ahead.store(10, Ordering::Relaxed);
        let mut seats: Vec<Seat> = (0..12).map(|_| slots.seat("task")).collect();
        let waits = async || {
            timeout(Duration::from_secs(1), slots.worth_a_claim())
                .await
                .is_err()
        };
        for _ in 0..4 {
            seats.pop().expect("some are left").starts();
            assert!(waits().await);
        }
        seats.pop().expect("some are left").starts();
        assert!(!waits().await);
    }
}
