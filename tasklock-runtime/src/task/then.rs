//! What a run's end means for its job: one match over all outcomes, and the arithmetic of retries.
//!
//! Of the starts of a job (`attempt`), those that ended with an expired lease are `crashes`, those that ended
//! with an error are the rest. `retries` bounds the errors, `max_crashes` the crashes; a snooze, a shutdown
//! and a payload that could not be read are taken back from the starts, and count as neither.

mod facts;

use std::time::Duration;

use super::definition::Definition;
use super::outcome::Outcome;
use super::schedule::{Next, micros};
pub(crate) use facts::{Facts, Standing};

/// How long a dead job stays at least.
const DEAD_KEEP: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long a cancelled job stays whose task keeps nothing.
const CANCELLED_KEEP: Duration = Duration::from_secs(24 * 60 * 60);
/// A payload that a worker cannot read is put off with this backoff, for a newer one may, and so often: about
/// two hours.
const REFUSAL_BACKOFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(600));
const MOST_REFUSALS: u32 = 20;

/// What becomes of a job after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The slot of a standing job is over: it waits for its next one, its attempts starting anew.
    Slot(Next),
    /// The same work again, so long after the store has written it.
    Again(Duration, Counts),
    /// It has succeeded; its row stays for so long, or not at all.
    Done(Option<Duration>),
    /// It has failed for good; its row stays for so long.
    Dead(Duration),
    /// It was cancelled; its row stays for so long.
    Cancelled(Duration),
}

/// What the attempt counts as, where the same work is to be done again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// As an attempt.
    Attempt,
    /// As nothing.
    Nothing,
    /// As a refusal: the payload could not be read.
    Refusal,
}

/// What becomes of the job; `None` where this worker has no say (the lease is lost), or gives the lease back.
pub(crate) fn then(task: &Definition, facts: &Facts<'_>, outcome: &Outcome) -> Option<Then> {
    Some(match outcome {
        Outcome::Succeeded => succeeded(task, facts),
        Outcome::Failed { retry_after, .. } => failed(task, facts, *retry_after),
        Outcome::Panicked(_) | Outcome::TimedOut(_) => failed(task, facts, None),
        Outcome::Snoozed(delay) => again(facts, *delay, Counts::Nothing),
        Outcome::Undecodable(_) if facts.refusals < MOST_REFUSALS => {
            let delay = backoff(
                REFUSAL_BACKOFF,
                facts.refusals.saturating_add(1),
                (facts.jitter)(),
            );
            again(facts, delay, Counts::Refusal)
        }
        Outcome::Undecodable(_) | Outcome::Discarded(_) | Outcome::Poisoned(_) => over(task, facts),
        Outcome::Skipped(_) => {
            let skipping = facts.standing.and_then(|standing| standing.skipping);
            skipping.unwrap_or_else(|| succeeded(task, facts))
        }
        Outcome::Cancelled => Then::Cancelled(task.kept_for().unwrap_or(CANCELLED_KEEP)),
        Outcome::Lost(_) | Outcome::Interrupted => return None,
    })
}

/// A success, which a transaction of the handler's may also write.
pub(crate) fn succeeded(task: &Definition, facts: &Facts<'_>) -> Then {
    match facts.standing {
        Some(standing) => Then::Slot(standing.next().0),
        None => Then::Done(task.kept_for()),
    }
}

fn failed(task: &Definition, facts: &Facts<'_>, retry_after: Option<Duration>) -> Then {
    let errors = facts.attempt.saturating_sub(facts.crashes).max(1);
    if errors > task.most_retries() {
        return over(task, facts);
    }
    let delay = retry_after.unwrap_or_else(|| backoff(task.backoff(), errors, (facts.jitter)()));
    again(facts, delay, Counts::Attempt)
}

/// The same work again, unless a slot comes first, which covers it.
fn again(facts: &Facts<'_>, delay: Duration, counts: Counts) -> Then {
    if let Some(standing) = facts.standing
        && standing.plan.covers_attempts(&standing.claimed)
        && let (next @ Next::At { due, .. }, _) = standing.next()
        && facts.ended_at.saturating_add(micros(delay)) >= due
    {
        return Then::Slot(next);
    }
    Then::Again(delay, counts)
}

/// No attempt is left. A standing job never dies: its slot has failed.
fn over(task: &Definition, facts: &Facts<'_>) -> Then {
    match facts.standing {
        Some(standing) => Then::Slot(standing.next().0),
        None => Then::Dead(task.kept_for().unwrap_or_default().max(DEAD_KEEP)),
    }
}

/// The delay after the `nth` error, from 1: it doubles from twice the lower bound up to the upper one, and
/// the upper half of it is left to chance, so that what failed together does not come back together.
fn backoff((least, most): (Duration, Duration), nth: u32, jitter: f64) -> Duration {
    let doubled = 2_u32
        .checked_pow(nth)
        .and_then(|factor| least.checked_mul(factor));
    let longest = doubled.unwrap_or(most).min(most);
    let half = longest / 2;
    (half + half.mul_f64(jitter.clamp(0.0, 1.0))).clamp(least, most.max(least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Claimed;
    use crate::task::Missed;

    const SECOND: i64 = 1_000_000;

    fn facts() -> Facts<'static> {
        Facts {
            standing: None,
            attempt: 1,
            crashes: 0,
            refusals: 0,
            ended_at: 16 * SECOND,
            jitter: || 0.5,
        }
    }

    /// On time.
    fn at(slot: i64) -> Claimed {
        Claimed {
            slot: Some(slot),
            due: slot,
            begun_at: slot,
            follows: None,
            now: slot,
        }
    }

    fn error() -> Outcome {
        Outcome::Failed {
            error: "no".into(),
            retry_after: None,
        }
    }

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const TASK: Definition = Definition::new("task");
    const EVERY_5S: Definition = Definition::new("task").every_nanos(5_000_000_000);

    #[test]
    fn an_on_demand_job_is_done_or_dead() {
        let end = |task: &Definition, outcome| then(task, &facts(), &outcome);
        assert_eq!(end(&TASK, Outcome::Succeeded), Some(Then::Done(Some(DAY))));
        assert_eq!(
            end(&TASK.clone().keep_none(), Outcome::Succeeded),
            Some(Then::Done(None))
        );
        assert_eq!(
            end(&TASK, Outcome::Discarded("no".into())),
            Some(Then::Dead(DEAD_KEEP))
        );
        assert_eq!(end(&TASK, Outcome::Cancelled), Some(Then::Cancelled(DAY)));
        assert_eq!(end(&TASK, Outcome::Interrupted), None);
    }

    #[test]
    fn errors_use_retries_and_crashes_do_not() {
        let task = TASK.clone().retries(2);
        let dies = |attempt, crashes| {
            let facts = Facts {
                attempt,
                crashes,
                ..facts()
            };
            matches!(then(&task, &facts, &error()), Some(Then::Dead(_)))
        };
        assert_eq!(
            [1, 2, 3].map(|attempt| dies(attempt, 0)),
            [false, false, true]
        );
        assert_eq!(
            [4, 5, 6].map(|attempt| dies(attempt, 3)),
            [false, false, true]
        );
    }

    #[test]
    fn delays_stay_between_the_bounds_and_are_never_zero() {
        let bounds = (Duration::from_secs(1), Duration::from_secs(600));
        let range = |nth| [0.0, 1.0].map(|jitter| backoff(bounds, nth, jitter).as_secs());
        assert_eq!(range(1), [1, 2]);
        assert_eq!(range(2), [2, 4]);
        assert_eq!(range(9), [256, 512]);
        assert_eq!(range(10), [300, 600]);
        assert_eq!(range(u32::MAX), [300, 600]);
        let constant = (Duration::from_secs(5), Duration::from_secs(5));
        assert_eq!(backoff(constant, 1, 0.0), Duration::from_secs(5));
    }

    #[test]
    fn a_handler_may_name_the_delay_but_not_get_more_attempts() {
        let delay = Duration::from_secs(77);
        let outcome = Outcome::Failed {
            error: "busy".into(),
            retry_after: Some(delay),
        };
        let end = |attempt| {
            let facts = Facts { attempt, ..facts() };
            then(&TASK, &facts, &outcome)
        };
        assert_eq!(end(5), Some(Then::Again(delay, Counts::Attempt)));
        assert_eq!(end(6), Some(Then::Dead(DEAD_KEEP)));
    }

    #[test]
    fn snoozes_and_unreadable_payloads_use_no_attempt() {
        let delay = Duration::from_secs(3);
        let last = Facts {
            attempt: 6,
            refusals: MOST_REFUSALS,
            ..facts()
        };
        assert_eq!(
            then(&TASK, &last, &Outcome::Snoozed(delay)),
            Some(Then::Again(delay, Counts::Nothing))
        );
        let unreadable = Outcome::Undecodable("at .x".into());
        assert!(matches!(
            then(&TASK, &facts(), &unreadable),
            Some(Then::Again(_, Counts::Refusal))
        ));
        assert!(matches!(
            then(&TASK, &last, &unreadable),
            Some(Then::Dead(_))
        ));
    }

    /// A standing job never dies, and a retry that would come after the next slot is that slot.
    #[test]
    fn a_scheduled_slot_fails_alone() {
        let standing = |task: &Definition, outcome: &Outcome| {
            let plan = task.plan().expect("its schedule is one");
            let facts = Facts {
                standing: Some(Standing {
                    plan: &plan,
                    claimed: at(15 * SECOND),
                    skipping: None,
                }),
                ..facts()
            };
            then(task, &facts, outcome)
        };
        let next = Some(Then::Slot(Next::at(20 * SECOND)));
        assert_eq!(standing(&EVERY_5S, &Outcome::Succeeded), next);
        assert_eq!(standing(&EVERY_5S, &error()), next);
        assert_eq!(standing(&EVERY_5S, &Outcome::Poisoned(5)), next);
        let retried = EVERY_5S.clone().retries(3);
        assert!(matches!(
            standing(&retried, &error()),
            Some(Then::Again(_, Counts::Attempt))
        ));
        let late = retried.backoff_nanos(10_000_000_000, 10_000_000_000);
        assert_eq!(standing(&late, &error()), next);
        let all = late.missed(Missed::All);
        assert!(
            matches!(
                standing(&all, &error()),
                Some(Then::Again(_, Counts::Attempt))
            ),
            "each slot has its own attempts"
        );
        assert_eq!(
            standing(&TASK.clone().retries(0), &error()),
            Some(Then::Slot(Next::Dormant))
        );
    }
}
