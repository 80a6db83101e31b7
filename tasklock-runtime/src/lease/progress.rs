//! What a handler says of its progress, and by when it has to say something.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Duration;

use super::clock::Moment;
use super::context::LeaseContext;

/// How far a run is, as its handler says: [`LeaseContext::progress`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Progress {
    /// What is done, in whatever the handler counts.
    pub done: u64,
    /// What there is to do; zero where the handler does not know.
    pub total: u64,
}

impl Progress {
    /// So much of so much.
    #[must_use]
    pub const fn new(done: u64, total: u64) -> Self {
        Self { done, total }
    }
}

/// `3/10`; where the total is not known, `3`.
impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.total {
            0 => write!(f, "{}", self.done),
            total => write!(f, "{}/{total}", self.done),
        }
    }
}

impl LeaseContext {
    /// Says how far the run is: so much done, of so much in all, in whatever the handler counts (rows,
    /// pages, bytes); a total of zero means that nobody knows.
    ///
    /// Operators see it as [`Job::progress`](crate::Job::progress) while the run goes on. It costs a few
    /// atomic stores and never waits: it goes to the store with the next heartbeat, or the next
    /// [`renew`](Self::renew), so a run that is shorter than a heartbeat shows none, and of many calls
    /// between two heartbeats the last one is shown. Numbers above `i64::MAX` are stored as that. Call it
    /// as often as it is convenient.
    ///
    /// Under `renew = "progress"` **every call is a sign of life**, whether or not the numbers have
    /// changed: a handler that waits for something slow may repeat what it said. It must call at least
    /// once in each `stall`, counted from the claim, or its lease is lost there and then, with
    /// [`LeaseLost::Stalled`](crate::LeaseLost::Stalled). So call it from the loop that does the work, and
    /// not from a timer beside it, which would go on when the work hangs. After a loss it does nothing.
    ///
    /// ```
    /// use tasklock_runtime::{LeaseContext, TaskResult, locked_task};
    ///
    /// #[locked_task(every = "1h", renew = "progress", stall = "5m")]
    /// async fn import(lease: LeaseContext) -> TaskResult {
    ///     let pages = 200;
    ///     for page in 0..pages {
    ///         lease.check()?;
    ///         // … read the page, which may hang …
    ///         lease.progress(page + 1, pages);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// Clones may report from several threads, even at once; the last one is shown. Of a named lease
    /// nobody is shown it.
    pub fn progress(&self, done: u64, total: u64) {
        self.0.status.report(Progress { done, total });
    }
}

/// The last report, and when the next one is due.
///
/// `done` and `total` are two words, written without a lock. Whoever reads them must not take one from
/// one report and one from another: writers count themselves before and after, and what was read counts
/// if by then nobody had begun who had not ended when the reading began. Else the heartbeat has
/// nothing to tell this time, which leaves in the store what was told before.
#[derive(Debug)]
pub(super) struct Reports {
    stall: Option<Duration>,
    /// In nanoseconds of the lease's clock; the end of time where nothing is ever due.
    due: AtomicU64,
    begun: AtomicU64,
    ended: AtomicU64,
    done: AtomicU64,
    total: AtomicU64,
}

impl Default for Reports {
    fn default() -> Self {
        Self::within(None, Moment::from_nanos(0))
    }
}

impl Reports {
    /// Due within so long of each other; the first one, of this moment.
    pub(super) fn within(stall: Option<Duration>, since: Moment) -> Self {
        let due = stall.map_or(u64::MAX, |stall| (since + stall).as_nanos());
        Self {
            stall,
            due: AtomicU64::new(due),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
        }
    }

    /// When there must have been another one. It only ever moves forward.
    pub(super) fn due(&self) -> Moment {
        Moment::from_nanos(self.due.load(Ordering::Acquire))
    }

    /// A report that was made at this moment.
    pub(super) fn write(&self, progress: Progress, now: Moment) {
        if let Some(stall) = self.stall {
            self.due
                .fetch_max((now + stall).as_nanos(), Ordering::AcqRel);
        }
        self.begun.fetch_add(1, Ordering::Relaxed);
        // Whoever sees one of the two stores sees that it was begun.
        fence(Ordering::Release);
        self.done.store(progress.done, Ordering::Relaxed);
        self.total.store(progress.total, Ordering::Relaxed);
        self.ended.fetch_add(1, Ordering::Release);
    }

    /// The last report; `None` if there is none, or while one is made.
    pub(super) fn last(&self) -> Option<Progress> {
        let ended = self.ended.load(Ordering::Acquire);
        let progress = Progress {
            done: self.done.load(Ordering::Relaxed),
            total: self.total.load(Ordering::Relaxed),
        };
        fence(Ordering::Acquire);
        let begun = self.begun.load(Ordering::Relaxed);
        (ended > 0 && begun == ended).then_some(progress)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::lease::{Clock, LeaseLost, LeaseStatus};

    #[derive(Debug, Default)]
    struct Hands(AtomicU64, AtomicU64);

    impl Hands {
        fn show(&self, seconds: u64) {
            self.0.store(at(seconds).as_nanos(), Ordering::SeqCst);
        }
    }

    impl Clock for Hands {
        fn now(&self) -> Moment {
            Moment::from_nanos(self.0.load(Ordering::SeqCst))
        }

        fn suspended(&self) -> Duration {
            Duration::from_secs(self.1.load(Ordering::SeqCst))
        }
    }

    fn at(seconds: u64) -> Moment {
        Moment::from_nanos(seconds * 1_000_000_000)
    }

    /// Claimed at 10 s, trusted up to 30 s, with something to be said within 5 s.
    fn stalling() -> (Arc<Hands>, LeaseStatus) {
        let hands = Arc::new(Hands::default());
        hands.show(10);
        let status = LeaseStatus::held(at(30), hands.clone());
        (hands, status.stalling(Some(Duration::from_secs(5)), at(10)))
    }

    #[test]
    fn silence_is_lost_when_it_is_over_and_no_nanosecond_earlier() {
        let (hands, status) = stalling();
        assert_eq!(status.check(), Ok(Duration::from_secs(5)));
        assert_eq!(status.deadline(), Some(at(15)), "when the heartbeat wakes");
        hands.0.store(at(15).as_nanos() - 1, Ordering::SeqCst);
        assert_eq!(status.check(), Ok(Duration::from_nanos(1)));
        hands.show(15);
        assert_eq!(status.check(), Err(LeaseLost::Stalled));
        assert!(status.token().is_cancelled());
    }

    #[test]
    fn each_report_gives_another_stall_and_no_more_than_the_lease_has() {
        let (hands, status) = stalling();
        for now in [14, 18, 22, 26] {
            hands.show(now);
            // The same numbers are a sign of life, too.
            status.report(Progress::new(1, 2));
            let left = (now + 5).min(30) - now;
            assert_eq!(status.check(), Ok(Duration::from_secs(left)), "{now}");
        }
        hands.show(30);
        status.report(Progress::new(1, 2));
        assert_eq!(status.check(), Err(LeaseLost::Expired));
    }

    /// Nobody has asked in between: the report itself finds the loss, and nothing brings it back.
    #[test]
    fn neither_a_late_report_nor_a_renewal_revives_it() {
        let (hands, status) = stalling();
        hands.show(16);
        status.report(Progress::new(1, 2));
        assert_eq!(status.check(), Err(LeaseLost::Stalled));
        assert_eq!(status.progress(), None);
        assert!(!status.extend(at(60)));
        hands.show(11);
        status.report(Progress::new(1, 2));
        assert_eq!(status.check(), Err(LeaseLost::Stalled));

        let (hands, status) = stalling();
        hands.show(16);
        assert!(!status.extend(at(60)), "a renewal came when it was over");
        assert_eq!(status.check(), Err(LeaseLost::Stalled));
        assert_eq!(status.seal(), None);
    }

    /// A renewal moves the one deadline, and leaves the other.
    #[test]
    fn renewals_are_no_reports() {
        let (hands, status) = stalling();
        assert!(status.extend(at(60)));
        assert_eq!(status.check(), Ok(Duration::from_secs(5)));
        hands.show(15);
        assert_eq!(status.check(), Err(LeaseLost::Stalled));
    }

    #[test]
    fn the_reason_is_what_came_first() {
        let (hands, status) = stalling();
        hands.show(29);
        assert_eq!(status.check(), Err(LeaseLost::Stalled));
        let (hands, status) = stalling();
        hands.1.store(60, Ordering::SeqCst);
        hands.show(70);
        assert_eq!(status.check(), Err(LeaseLost::Suspended));
        let (hands, status) = stalling();
        status.suspect(LeaseLost::StoreUnreachable);
        hands.show(16);
        assert_eq!(status.check(), Err(LeaseLost::Stalled));
    }

    #[test]
    fn without_a_stall_nothing_is_ever_due() {
        let hands = Arc::new(Hands::default());
        hands.show(10);
        let status = LeaseStatus::held(at(30), hands.clone()).stalling(None, at(10));
        assert_eq!(status.progress(), None);
        hands.show(29);
        assert_eq!(status.check(), Ok(Duration::from_secs(1)));
        status.report(Progress::new(0, 0));
        assert_eq!(status.progress(), Some(Progress::new(0, 0)));
        status.report(Progress::new(u64::MAX, 7));
        assert_eq!(status.progress(), Some(Progress::new(u64::MAX, 7)));
    }

    #[test]
    fn nobody_reads_half_of_one_report_and_half_of_another() {
        let reports = Reports::default();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for number in 0..200_000 {
                    reports.write(Progress::new(number, number), at(0));
                }
            });
            while !writer.is_finished() {
                if let Some(progress) = reports.last() {
                    assert_eq!(progress.done, progress.total);
                }
            }
        });
        assert_eq!(reports.last(), Some(Progress::new(199_999, 199_999)));
    }

    #[test]
    fn it_is_shown_as_people_write_it() {
        assert_eq!(Progress::new(3, 10).to_string(), "3/10");
        assert_eq!(Progress::new(3, 0).to_string(), "3");
    }
}
