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
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct Hands {
        now: AtomicU64,
        suspended: AtomicU64,
    }

    impl Clock for Hands {
        fn now(&self) -> Moment {
            Moment::from_nanos(self.now.load(Ordering::SeqCst))
        }

        fn suspended(&self) -> Duration {
            Duration::from_nanos(self.suspended.load(Ordering::SeqCst))
        }
    }

    fn at(seconds: u64) -> Moment {
        Moment::from_nanos(seconds * 1_000_000_000)
    }

    fn lease_until_10s() -> (Arc<Hands>, LeaseStatus) {
        let hands = Arc::new(Hands::default());
        hands.now.store(at(1).as_nanos(), Ordering::SeqCst);
        let status = LeaseStatus::held(at(10), hands.clone());
        (hands, status)
    }

    #[test]
    fn held_until_the_deadline_and_not_a_nanosecond_longer() {
        let (hands, status) = lease_until_10s();
        assert_eq!(status.check(), Ok(Duration::from_secs(9)));
        hands.now.store(at(10).as_nanos() - 1, Ordering::SeqCst);
        assert_eq!(status.check(), Ok(Duration::from_nanos(1)));
        hands.now.store(at(10).as_nanos(), Ordering::SeqCst);
        assert_eq!(status.check(), Err(LeaseLost::Expired));
        assert!(status.token().is_cancelled());
    }

    #[test]
    fn a_confirmation_in_time_extends_and_never_shortens() {
        let (hands, status) = lease_until_10s();
        assert!(status.extend(at(20)));
        assert!(status.extend(at(15)));
        hands.now.store(at(19).as_nanos(), Ordering::SeqCst);
        assert_eq!(status.check(), Ok(Duration::from_secs(1)));
    }

    #[test]
    fn a_confirmation_after_the_deadline_is_too_late_and_loss_is_sticky() {
        let (hands, status) = lease_until_10s();
        hands.now.store(at(11).as_nanos(), Ordering::SeqCst);
        assert!(!status.extend(at(20)));
        hands.now.store(at(2).as_nanos(), Ordering::SeqCst);
        assert_eq!(status.check(), Err(LeaseLost::Expired));
        assert!(!status.extend(at(30)));
        assert_eq!(status.lose(LeaseLost::TakenOver), LeaseLost::Expired);
    }

    #[test]
    fn the_reason_is_the_one_that_was_suspected() {
        let (hands, status) = lease_until_10s();
        status.suspect(LeaseLost::StoreUnreachable);
        hands.now.store(at(10).as_nanos(), Ordering::SeqCst);
        assert_eq!(status.check(), Err(LeaseLost::StoreUnreachable));
    }

    #[test]
    fn a_confirmation_clears_the_suspicion() {
        let (hands, status) = lease_until_10s();
        status.suspect(LeaseLost::StoreUnreachable);
        assert!(status.extend(at(20)));
        hands.now.store(at(20).as_nanos(), Ordering::SeqCst);
        assert_eq!(status.check(), Err(LeaseLost::Expired));
    }

    #[test]
    fn a_suspend_past_the_deadline_is_named() {
        let (hands, status) = lease_until_10s();
        hands.suspended.store(at(60).as_nanos(), Ordering::SeqCst);
        hands.now.store(at(61).as_nanos(), Ordering::SeqCst);
        assert_eq!(status.check(), Err(LeaseLost::Suspended));
    }

    #[test]
    fn losing_wakes_the_waiting_and_keeps_the_first_reason() {
        let (_, status) = lease_until_10s();
        assert_eq!(status.lose(LeaseLost::TakenOver), LeaseLost::TakenOver);
        assert_eq!(status.lose(LeaseLost::Released), LeaseLost::TakenOver);
        assert!(status.token().is_cancelled());
        assert_eq!(status.deadline(), None);
    }

    #[test]
    fn sealing_ends_the_belief_and_keeps_the_deadline() {
        let (_, status) = lease_until_10s();
        assert_eq!(status.seal(), Some(at(10)));
        assert_eq!(status.check(), Err(LeaseLost::Released));
        assert!(!status.extend(at(20)));
        assert_eq!(status.seal(), None);
    }

    #[test]
    fn an_inner_lease_is_lost_with_its_outer_one_and_not_the_other_way_round() {
        let (hands, run) = lease_until_10s();
        let run = Arc::new(run);
        let inner = |deadline| LeaseStatus::held(deadline, hands.clone()).within(Arc::clone(&run));
        let (short, long, given_up) = (inner(at(5)), inner(at(20)), inner(at(20)));
        assert_eq!(short.check(), Ok(Duration::from_secs(4)));
        assert_eq!(long.check(), Ok(Duration::from_secs(9)));
        given_up.lose(LeaseLost::Released);
        hands.now.store(at(5).as_nanos(), Ordering::SeqCst);
        assert_eq!(short.check(), Err(LeaseLost::Expired));
        assert_eq!(run.check(), Ok(Duration::from_secs(5)));
        run.lose(LeaseLost::TakenOver);
        assert!(long.token().is_cancelled());
        assert_eq!(long.check(), Err(LeaseLost::TakenOver));
        assert!(!long.extend(at(30)));
        assert_eq!(short.check(), Err(LeaseLost::Expired));
        assert_eq!(given_up.check(), Err(LeaseLost::Released));
    }

    /// The race that the compare-and-swaps decide, on real threads.
    #[test]
    fn extension_and_expiry_race_to_one_verdict() {
        for round in 0..2_000 {
            let (hands, status) = lease_until_10s();
            let extended = std::thread::scope(|scope| {
                let extender = scope.spawn(|| status.extend(at(20)));
                hands.now.store(at(12).as_nanos(), Ordering::SeqCst);
                let seen = status.check();
                let extended = extender.join().unwrap_or(false);
                assert!(
                    seen.is_ok() == status.check().is_ok(),
                    "round {round}: the verdict changed"
                );
                extended
            });
            assert_eq!(extended, status.check().is_ok(), "round {round}");
        }
    }
}
