//! Who looks when something falls due, so that not every worker of a fleet does.
//!
//! Each worker knows of the **instants** at which something falls due or expires: the next one by the last look, its own or
//! another's, and those that the ends since then have announced. Were all workers to look at such an instant, one would
//! find something and the others would have asked in vain. So who found something at the last instant looks at the next
//! one when it comes, and the others a little later, each by a delay of its own. In that while they hear that somebody
//! has looked, when, and what comes next: then the instants up to that look are served, and they have nothing to ask for.
//!
//! - Who looks and finds nothing, or leaves something behind that is due, says nothing: the others look in their turn. So they do
//!   where the first one has died, has no free slot, or has other tasks: a slot is late by [`LATEST`] at the most.
//! - What is said is about the tasks of him who says it, with their limits. Who has others does not heed it (`tasks`).
//! - A look does not see what is committed while it is under way. So what a worker has seen in a later look of its own it
//!   does not forget for an earlier one; and the end of a scheduled run says, in its own transaction, when the next slot falls
//!   due. Who has written it looks then, whatever he hears. What is lost for all that, were he to die just then, the next
//!   look of anybody finds: ten poll intervals later at the most.
//! - Where announcements do not arrive, each looks at the instant itself.
//!
//! An announcement of new work is another matter: whoever hears it looks at once.

use std::collections::BTreeSet;
use std::time::Duration;

use super::registry::Registry;
use crate::store::{Looked, Looker};

/// The delays of those that do not look first: long enough for one look, and its announcement.
const EARLIEST: Duration = Duration::from_millis(30);
const LATEST: Duration = Duration::from_millis(80);
/// More announced instants need not be known: the look at the first of them tells what comes later.
const MOST: usize = 64;

/// What this worker knows. Instants are microseconds since the Unix epoch by the store's clock.
#[derive(Debug)]
pub(super) struct Turns {
    /// By the last look.
    next: Option<i64>,
    /// When that was.
    seen: i64,
    /// Announced since.
    announced: BTreeSet<i64>,
    is_first: bool,
    delay: Duration,
}

impl Default for Turns {
    fn default() -> Self {
        let chance = f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX);
        Self {
            next: None,
            seen: i64::MIN,
            announced: BTreeSet::new(),
            is_first: true,
            delay: EARLIEST + (LATEST - EARLIEST).mul_f64(chance),
        }
    }
}

impl Turns {
    /// A job falls due then.
    pub(super) fn announced(&mut self, instant: i64) {
        self.announced.insert(instant);
        if self.announced.len() > MOST {
            self.announced.pop_last();
        }
    }

    /// It has looked, and something happens then. What was heard meanwhile may be of a look that has seen more.
    pub(super) fn saw(&mut self, at: i64, next: Option<i64>) {
        self.seen = at;
        self.next = self.next.into_iter().chain(next).min();
    }

    /// When this worker looks next.
    pub(super) fn next(&self) -> Option<i64> {
        let delay = if self.is_first {
            Duration::ZERO
        } else {
            self.delay
        };
        let delay = i64::try_from(delay.as_micros()).unwrap_or(0);
        let announced = self.announced.first().copied();
        let first = announced.into_iter().chain(self.next).min();
        first.map(|first| first.saturating_add(delay))
    }

    /// It looks `now`, and will expect what it sees: answers whether an instant has come.
    pub(super) fn come(&mut self, now: i64) -> bool {
        let later = self.announced.split_off(&now.saturating_add(1));
        let come = std::mem::replace(&mut self.announced, later);
        let next = self.next.take();
        !come.is_empty() || next.is_some_and(|next| next <= now)
    }

    /// It has found something when one had come.
    pub(super) fn found(&mut self) {
        self.is_first = true;
    }

    /// Another worker with the same tasks has found something.
    pub(super) fn heard(&mut self, looked: &Looked) {
        self.is_first = false;
        let is_latest = looked.at >= self.seen;
        let before = self.next;
        self.come(looked.at);
        self.next = looked.next;
        if is_latest {
            self.seen = looked.at;
        } else {
            // It has not seen all that this worker knows of.
            self.next = before.into_iter().chain(looked.next).min();
        }
    }

    /// Nothing is heard any more.
    pub(super) fn alone(&mut self) {
        self.is_first = true;
    }
}

/// A worker with these tasks. Their hash (FNV-1a) is the same in all workers that have the same ones in the same queues,
/// whatever their binary was built with.
pub(super) fn looker(registry: &Registry) -> Looker {
    let tasks = registry.iter().map(|task| &task.definition);
    let bytes = tasks.flat_map(|task| {
        let names = [task.name, task.queue_name()].into_iter();
        let names = names.flat_map(|name| name.bytes().chain([0]));
        names.chain(task.limit().unwrap_or(0).to_le_bytes())
    });
    Looker {
        worker: getrandom::u64().unwrap_or(0),
        tasks: bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(at: i64, next: Option<i64>) -> Looked {
        let looker = Looker {
            worker: 1,
            tasks: 2,
        };
        Looked { looker, at, next }
    }

    #[test]
    fn who_found_something_is_the_first_to_look_again() {
        let mut turns = Turns::default();
        turns.saw(0, Some(1_000_000));
        assert_eq!(turns.next(), Some(1_000_000), "nobody else was heard of");
        turns.heard(&looked(1_000_500, Some(2_000_000)));
        let next = turns.next().expect("there is a next one");
        let [least, most] = [EARLIEST, LATEST].map(|delay| delay.as_micros() as i64);
        assert!(
            (2_000_000 + least..=2_000_000 + most).contains(&next),
            "{next}"
        );
        assert!(turns.come(2_100_000));
        turns.found();
        turns.saw(2_100_000, Some(3_000_000));
        assert_eq!(turns.next(), Some(3_000_000));
    }

    #[test]
    fn a_look_serves_what_had_come_by_then_and_nothing_else() {
        let mut turns = Turns::default();
        for instant in [1, 2, 3, 4] {
            turns.announced(instant);
        }
        turns.saw(0, Some(9));
        turns.heard(&looked(2, Some(8)));
        turns.alone();
        assert_eq!(turns.next(), Some(3));
        assert!(!turns.come(2), "it came before");
        assert_eq!(
            turns.next(),
            Some(3),
            "and what it expects, it expects of the look"
        );
        assert!(turns.come(4));
        turns.saw(4, Some(8));
        assert_eq!(
            turns.next(),
            Some(8),
            "what was expected before is forgotten"
        );
        assert!(turns.come(8));
        assert_eq!(turns.next(), None);
    }

    #[test]
    fn an_earlier_look_takes_nothing_back() {
        let mut turns = Turns::default();
        turns.saw(10, Some(50));
        turns.heard(&looked(9, Some(90)));
        turns.alone();
        assert_eq!(turns.next(), Some(50));
        turns.heard(&looked(11, Some(90)));
        turns.alone();
        assert_eq!(turns.next(), Some(90));
        // Heard while its own look was under way.
        assert!(!turns.come(12));
        turns.heard(&looked(13, Some(60)));
        turns.saw(12, Some(70));
        turns.alone();
        assert_eq!(turns.next(), Some(60));
    }

    #[test]
    fn of_many_instants_the_first_are_known() {
        let mut turns = Turns::default();
        for instant in (1..1_000).rev() {
            turns.announced(instant);
        }
        assert_eq!(turns.next(), Some(1));
        assert_eq!(turns.announced.len(), MOST);
    }
}
