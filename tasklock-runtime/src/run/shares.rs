//! Who may have how many of a worker's slots.
//!
//! A backlog of one task whose runs take an hour would have all slots of a worker within a moment, and the jobs of all other
//! tasks would wait for the hour. So no task whose runs are **long** may run in all slots: an eighth of them, one at the
//! least, is left to the others. A task's runs are long if they took half a second and more lately, and as long as
//! nothing is known of them: the first burst is the one that fills the slots. Where all runs are short nothing is kept
//! free, for whoever waits has a slot soon; nor is it in a worker of one slot, or of one task.
//!
//! It is held to in two places. A lane passes over runs of a task that has its share (`lanes.rs`), which decides. And
//! claims bring no more than can run: a task that has its share is not asked for; nor are more rows than are left
//! of the share of any long task that is asked for, since all of them may be its rows. Where such a claim was full, the
//! next one is for the others alone, or a few rows at a time would be all that they get. (A claim that brings the first
//! rows of a long task can bring more than its share, ahead of others; what the lanes pass over goes back after half a
//! second. And length is learned from ends: runs that were short, and last for an hour from now on, have all slots once.)

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Runs that take longer are long.
const SHORT: Duration = Duration::from_millis(500);

/// One task's.
#[derive(Debug)]
struct Share {
    name: &'static str,
    /// Claims that wait or run.
    held: AtomicUsize,
    running: AtomicUsize,
    /// How long runs took lately, in nanoseconds; zero while there was none.
    length: AtomicU64,
    /// It was not asked for.
    left_out: AtomicBool,
}

impl Share {
    fn is_long(&self) -> bool {
        let length = self.length.load(Ordering::Relaxed);
        length == 0 || u128::from(length) >= SHORT.as_nanos()
    }
}

#[derive(Debug)]
pub(super) struct Shares {
    /// The most slots of a task whose runs are long.
    most: usize,
    tasks: Vec<Share>,
}

/// What a claim may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asking {
    /// Rows at the most.
    pub(super) limit: usize,
    /// Whether a full claim says nothing of the tasks whose runs are short.
    pub(super) is_cut: bool,
}

impl Shares {
    /// Of so many tasks, those that may have many jobs; a task with a schedule has one.
    pub(super) fn new(slots: usize, all: usize, tasks: impl Iterator<Item = &'static str>) -> Self {
        let share = |name| Share {
            name,
            held: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            length: AtomicU64::new(0),
            left_out: AtomicBool::new(false),
        };
        let mut tasks: Vec<Share> = tasks.map(share).collect();
        tasks.sort_by_key(|task| task.name);
        let kept_free = match (slots, all) {
            (0 | 1, _) | (_, 0 | 1) => 0,
            _ => (slots / 8).max(1),
        };
        Self {
            most: slots - kept_free,
            tasks,
        }
    }

    /// The number by which a task is known here.
    pub(super) fn number(&self, task: &str) -> Option<usize> {
        self.tasks
            .binary_search_by_key(&task, |share| share.name)
            .ok()
    }

    fn of(&self, number: Option<usize>) -> Option<&Share> {
        number.and_then(|number| self.tasks.get(number))
    }

    /// Whether one more run of this task may start.
    pub(super) fn may_start(&self, number: Option<usize>) -> bool {
        self.of(number).is_none_or(|share| {
            !share.is_long() || share.running.load(Ordering::Relaxed) < self.most
        })
    }

    pub(super) fn claimed(&self, number: Option<usize>) {
        if let Some(share) = self.of(number) {
            share.held.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn started(&self, number: Option<usize>) {
        if let Some(share) = self.of(number) {
            share.running.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A claim's handler has ended, after so long, or has not run. Answers whether its task may be asked for, and was not.
    pub(super) fn ended(&self, number: Option<usize>, ran: Option<Duration>) -> bool {
        if let Some(share) = self.of(number) {
            share.held.fetch_sub(1, Ordering::SeqCst);
            if let Some(ran) = ran {
                share.running.fetch_sub(1, Ordering::Relaxed);
                let ran = u64::try_from(ran.as_nanos()).unwrap_or(u64::MAX).max(1);
                let mean = |before| match before {
                    0 => Some(ran),
                    before => Some((before / 2 + ran / 2).max(1)),
                };
                let _ = share
                    .length
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, mean);
            }
            return share.left_out.swap(false, Ordering::SeqCst);
        }
        false
    }

    /// Whether this task is asked for at present; `others_turn`: only if its runs are short.
    pub(super) fn is_asked_for(&self, task: &str, others_turn: bool) -> bool {
        let Some(share) = self.of(self.number(task)).filter(|share| share.is_long()) else {
            return true;
        };
        // Said before the look: a run that ends in between rings.
        share.left_out.store(true, Ordering::SeqCst);
        let held = share.held.load(Ordering::SeqCst);
        if held >= self.most {
            return false;
        }
        share.left_out.store(false, Ordering::SeqCst);
        !others_turn || held == 0
    }

    /// How much of the room may be asked for.
    pub(super) fn asking(&self, room: usize) -> Asking {
        let left = self.tasks.iter().filter_map(|share| {
            let held = share.held.load(Ordering::Relaxed);
            // One that has nothing here is held to its share by the lanes.
            (share.is_long() && held > 0 && held < self.most).then(|| self.most - held)
        });
        let least = left.min().unwrap_or(room);
        Asking {
            limit: room.min(least),
            is_cut: least < room,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares() -> Shares {
        Shares::new(8, 3, ["slow", "fast"].into_iter())
    }

    fn run(shares: &Shares, task: &str, length: Duration) {
        let number = shares.number(task);
        shares.claimed(number);
        shares.started(number);
        shares.ended(number, Some(length));
    }

    fn hold(shares: &Shares, task: &str, runs: usize) {
        for _ in 0..runs {
            shares.claimed(shares.number(task));
            shares.started(shares.number(task));
        }
    }

    #[test]
    fn long_runs_of_one_task_leave_a_slot_to_others() {
        let shares = shares();
        let (slow, fast) = (shares.number("slow"), shares.number("fast"));
        run(&shares, "fast", Duration::from_millis(1));
        // Nothing is known of it.
        hold(&shares, "slow", 7);
        assert!(!shares.may_start(slow) && shares.may_start(fast));
        assert!(!shares.is_asked_for("slow", false) && shares.is_asked_for("fast", false));
        // Whoever has been left out is to be asked for again.
        assert!(shares.ended(slow, Some(Duration::from_secs(3))));
        assert!(shares.may_start(slow) && shares.is_asked_for("slow", false));
        assert!(!shares.is_asked_for("slow", true) && shares.is_asked_for("fast", true));
        assert_eq!(
            shares.asking(2),
            Asking {
                limit: 1,
                is_cut: true
            }
        );
        for _ in 0..6 {
            shares.ended(slow, Some(Duration::from_millis(1)));
        }
        hold(&shares, "slow", 8);
        assert!(shares.may_start(slow), "its runs are short by now");
    }

    #[test]
    fn nobody_else_nothing_kept() {
        let alone = Shares::new(8, 1, ["slow"].into_iter());
        hold(&alone, "slow", 7);
        assert!(alone.may_start(alone.number("slow")));
        let one_slot = Shares::new(1, 2, ["slow", "fast"].into_iter());
        assert!(one_slot.may_start(one_slot.number("slow")));
        // A task with a schedule has one job.
        assert!(shares().may_start(shares().number("standing")));
    }
}
