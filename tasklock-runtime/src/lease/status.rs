//! The one word that says whether a lease is held: see the argument in the [module](super).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::clock::{Clock, Moment};
use super::lost::LeaseLost;
use super::progress::{Progress, Reports};
use crate::fault;

/// A suspend shorter than this does not explain a loss.
const NOTICEABLE_SUSPEND: Duration = Duration::from_millis(50);

/// Smaller words are codes of reasons; a deadline is at least this many nanoseconds after boot.
const LEAST_DEADLINE: u64 = 16;

/// Whether one lease is held, up to when, or why it is lost.
#[derive(Debug)]
pub(crate) struct LeaseStatus {
    /// A deadline in nanoseconds of `clock`, or the code of a reason.
    word: AtomicU64,
    /// The code of the reason to give if the deadline passes: why renewals fail at present.
    suspicion: AtomicU64,
    /// `Clock::suspended` at the last acknowledgement, in nanoseconds.
    suspended: AtomicU64,
    /// What the handler says of itself, and by when it must.
    reports: Reports,
    clock: Arc<dyn Clock>,
    lost: CancellationToken,
    /// A lease that this one ends with.
    outer: Option<Arc<Self>>,
}

impl LeaseStatus {
    /// A lease that was granted, to be trusted up to `deadline`.
    pub(crate) fn held(deadline: Moment, clock: Arc<dyn Clock>) -> Self {
        Self {
            word: AtomicU64::new(deadline.as_nanos().max(LEAST_DEADLINE)),
            suspicion: AtomicU64::new(LeaseLost::Expired.code()),
            suspended: AtomicU64::new(nanos(clock.suspended())),
            reports: Reports::default(),
            clock,
            lost: CancellationToken::new(),
            outer: None,
        }
    }

    /// The same, of a lease that is lost as soon as another one is.
    pub(crate) fn within(self, outer: Arc<Self>) -> Self {
        Self {
            lost: outer.lost.child_token(),
            outer: Some(outer),
            ..self
        }
    }

    /// Lost as well once nothing was reported for so long, counted from this moment at first.
    pub(crate) fn stalling(mut self, stall: Option<Duration>, since: Moment) -> Self {
        self.reports = Reports::within(stall, since);
        self
    }

    /// The trusted time left, or the reason of the loss. Two loads and one reading of the clock;
    /// the first call past a deadline records the loss.
    #[inline]
    pub(crate) fn check(&self) -> Result<Duration, LeaseLost> {
        loop {
            let word = self.word.load(Ordering::Acquire);
            if let Some(lost) = LeaseLost::from_code(word) {
                return Err(lost);
            }
            let outer = self.outer.as_ref().map(|outer| outer.check());
            if let Some(Err(lost)) = outer {
                return Err(self.lose(lost));
            }
            let due = self.reports.due();
            let deadline = Moment::from_nanos(word).min(due);
            let left = deadline.since(self.clock.now());
            if !left.is_zero() {
                return Ok(match outer {
                    Some(Ok(outer)) => outer.min(left),
                    _ => left,
                });
            }
            // A report or a renewal in time may have moved either since: then look again.
            if self.reports.due() == due
                && let Some(lost) = self.lose_from(word, self.reason_of_expiry(deadline == due))
            {
                return Err(lost);
            }
        }
    }

    /// The present deadline, whichever of the two comes first; `None` once lost.
    pub(crate) fn deadline(&self) -> Option<Moment> {
        self.check().ok()?;
        let word = self.word.load(Ordering::Acquire);
        (word >= LEAST_DEADLINE).then(|| Moment::from_nanos(word).min(self.reports.due()))
    }

    /// What the handler says of itself. Nothing, once the lease is lost.
    pub(crate) fn report(&self, progress: Progress) {
        // Read before the check: what is written after a pause is what was true before it.
        let now = self.clock.now();
        if self.check().is_ok() {
            self.reports.write(progress, now);
        }
    }

    /// What it said last.
    pub(crate) fn progress(&self) -> Option<Progress> {
        self.reports.last()
    }

    /// Moves the deadline forward after a confirmed renewal. Returns whether the lease is still
    /// held: a confirmation that comes after the old deadline is too late and changes nothing.
    pub(crate) fn extend(&self, deadline: Moment) -> bool {
        let deadline = deadline.as_nanos().max(LEAST_DEADLINE);
        loop {
            if self.check().is_err() && !fault::has("a late renewal revives the lease") {
                return false;
            }
            let word = self.word.load(Ordering::Acquire);
            if fault::has("a late renewal revives the lease") {
                self.word.store(deadline, Ordering::Release);
                return true;
            }
            if word < LEAST_DEADLINE {
                return false;
            }
            // The clock is read after the word it is compared with: a thread that was paused since
            // `check` must not revive a deadline that has passed in between.
            if self.clock.now().as_nanos() >= word {
                continue;
            }
            if word >= deadline || self.swap(word, deadline) {
                self.suspicion
                    .store(LeaseLost::Expired.code(), Ordering::Relaxed);
                self.suspended
                    .store(nanos(self.clock.suspended()), Ordering::Relaxed);
                return true;
            }
        }
    }

    /// Notes why the lease will be lost if the deadline passes before the next confirmation.
    pub(crate) fn suspect(&self, reason: LeaseLost) {
        self.suspicion.store(reason.code(), Ordering::Relaxed);
    }

    /// Loses the lease now. The first reason stays.
    pub(crate) fn lose(&self, reason: LeaseLost) -> LeaseLost {
        loop {
            let word = self.word.load(Ordering::Acquire);
            if let Some(lost) = LeaseLost::from_code(word) {
                return lost;
            }
            if let Some(lost) = self.lose_from(word, reason) {
                return lost;
            }
        }
    }

    /// Ends the holder's belief before the row's end is sent: from then on a clone of the context that
    /// outlives the handler sees a lost lease. Answers the deadline up to which the end may still be
    /// written; `None` if the lease was lost before.
    pub(crate) fn seal(&self) -> Option<Moment> {
        loop {
            self.check().ok()?;
            let word = self.word.load(Ordering::Acquire);
            if word >= LEAST_DEADLINE && self.lose_from(word, LeaseLost::Released).is_some() {
                return Some(Moment::from_nanos(word));
            }
        }
    }

    /// Cancelled when the loss is recorded.
    pub(crate) fn token(&self) -> &CancellationToken {
        &self.lost
    }

    fn lose_from(&self, word: u64, reason: LeaseLost) -> Option<LeaseLost> {
        if !self.swap(word, reason.code()) {
            return None;
        }
        self.lost.cancel();
        Some(reason)
    }

    fn swap(&self, from: u64, to: u64) -> bool {
        self.word
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    fn reason_of_expiry(&self, stalled: bool) -> LeaseLost {
        let before = Duration::from_nanos(self.suspended.load(Ordering::Relaxed));
        if self.clock.suspended().saturating_sub(before) >= NOTICEABLE_SUSPEND {
            return LeaseLost::Suspended;
        }
        if stalled {
            return LeaseLost::Stalled;
        }
        LeaseLost::from_code(self.suspicion.load(Ordering::Relaxed)).unwrap_or(LeaseLost::Expired)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
