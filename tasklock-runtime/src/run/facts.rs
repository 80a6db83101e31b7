//! What a claim says of its run.

#[cfg(test)]
mod random;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tasklock_grammar::MAX_NAME_BYTES;

use crate::store::{Claim, Counts, Finish, Passed, Then};
use crate::task::{Claimed, Definition, Facts, Fate, Outcome, Plan, Standing, succeeded};

/// What a run of a standing job is for, and goes by.
#[derive(Debug)]
pub(super) struct OfSlot {
    plan: Arc<Plan>,
    claimed: Claimed,
    /// What the end says of slots, but for those that it stands for.
    passed: Passed,
    /// How it ends, if it is not to be run.
    skipping: Option<Then>,
}

impl OfSlot {
    /// Of a claim.
    pub(super) fn of(own: Option<&Arc<Plan>>, claim: &Claim, now: i64) -> Option<Self> {
        let own = own.filter(|_| claim.standing)?;
        let plan = plan(own, claim);
        let claimed = Claimed {
            slot: claim.slot_at,
            due: claim.due_at,
            begun_at: claim.begun_at.unwrap_or(now),
            follows: claim.follows,
            now,
        };
        let mut passed = Passed {
            follows: claim.follows,
            ..Passed::default()
        };
        let mut skipping = None;
        match plan.fate(&claimed) {
            Fate::Run => {}
            Fate::Later { slot, skipped } => {
                skipping = Some(Then::Again(Duration::ZERO, Counts::Nothing));
                (passed.slot, passed.skipped) = (Some(slot), skipped);
            }
            Fate::Skip { next, skipped } => {
                skipping = Some(Then::Slot(next));
                passed.skipped = skipped;
            }
        }
        Some(Self {
            plan,
            claimed,
            passed,
            skipping,
        })
    }

    /// How many slots are skipped, if this one is not to be run.
    pub(super) fn skipped(&self) -> Option<u32> {
        self.skipping.map(|_| self.passed.skipped)
    }
}

/// A plan of its own, or the same under the schedule that stands in the row, where a version that started later has declared
/// another one. A schedule that cannot be read here is a newer version's, which comes by itself.
fn plan(own: &Arc<Plan>, claim: &Claim) -> Arc<Plan> {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let stored = claim
        .schedule
        .as_deref()
        .filter(|stored| *stored != own.text());
    let Some(stored) = stored.filter(|_| own.is_declared()) else {
        return Arc::clone(own);
    };
    own.under(stored).map(Arc::new).unwrap_or_else(|mistake| {
        if !TOLD.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                task = claim.task,
                "the schedule {stored:?} in the store cannot be read here ({mistake}): runs go by {:?}",
                own.text()
            );
        }
        Arc::clone(own)
    })
}

/// What is known of a run that ended at an instant by the store's clock.
pub(super) fn facts<'a>(claim: &Claim, slot: Option<&'a OfSlot>, ended_at: i64) -> Facts<'a> {
    Facts {
        standing: slot.map(|slot| Standing {
            plan: &slot.plan,
            claimed: slot.claimed,
            skipping: slot.skipping,
        }),
        attempt: claim.attempt,
        crashes: claim.crashes,
        refusals: claim.refusals,
        ended_at,
        jitter: || f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX),
    }
}

/// What an end says of slots.
pub(super) fn passed(slot: Option<&OfSlot>, facts: &Facts<'_>, then: Then) -> Passed {
    let passed = slot.map(|slot| slot.passed).unwrap_or_default();
    Passed {
        missed: facts.missed(then),
        ..passed
    }
}

/// What the job's fences are numbers of: the task has one standing job, and any number of others.
pub(super) fn fence_name(task: &Definition, claim: &Claim) -> String {
    if claim.standing {
        return task.name.to_owned();
    }
    // The id alone tells them apart: a long name may be cut to what a name may have.
    let id = claim.key.job.to_string();
    let name = task.name;
    let most = name.floor_char_boundary(MAX_NAME_BYTES - 1 - id.len());
    format!("{}#{id}", &name[..most.min(name.len())])
}

/// The end that a transaction of the handler's may write.
pub(super) fn success(
    task: &Definition,
    claim: &Claim,
    slot: Option<&OfSlot>,
    claimed_at: i64,
) -> Finish {
    let facts = facts(claim, slot, claimed_at);
    let then = succeeded(task, &facts);
    Finish {
        passed: passed(slot, &facts, then),
        key: claim.key.clone(),
        then,
        outcome: Outcome::Succeeded.as_str(),
        error: None,
        hold: task.hold(),
        frees_place: task.limit().is_some(),
        resource: claim.resource.as_ref().map(|resource| resource.key.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::{LeaseKey, OwnerToken};

    fn claim(task: &str, job: i64, standing: bool) -> Claim {
        Claim {
            key: LeaseKey {
                job,
                fence: 1,
                owner: OwnerToken::fresh(),
            },
            task: task.into(),
            due_at: 0,
            slot_at: None,
            schedule: None,
            begun_at: None,
            follows: None,
            attempt: 1,
            crashes: 0,
            refusals: 0,
            takeover: false,
            standing,
            to_cancel: false,
            payload: None,
            resource: None,
        }
    }

    /// Two jobs of a task have fences of their own: under one name the greater would shut the other out.
    #[test]
    fn fences_count_under_their_job() {
        let task = Definition::new("task");
        assert_eq!(fence_name(&task, &claim("task", 7, true)), "task");
        assert_eq!(fence_name(&task, &claim("task", 7, false)), "task#7");
        assert_ne!(
            fence_name(&task, &claim("task", 8, false)),
            fence_name(&task, &claim("task", 7, false))
        );
        let long: &'static str = Box::leak("ö".repeat(MAX_NAME_BYTES / 2).into_boxed_str());
        let name = fence_name(&Definition::new(long), &claim(long, i64::MAX, false));
        assert!(name.len() <= MAX_NAME_BYTES && name.ends_with(&format!("#{}", i64::MAX)));
    }
}
