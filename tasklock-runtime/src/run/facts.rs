//! What a claim says of its run.

use std::sync::Arc;

use tasklock_grammar::MAX_NAME_BYTES;

use crate::store::{Claim, Finish};
use crate::task::{Definition, Facts, Outcome, Plan, Standing, succeeded};

/// What a run of a standing job goes by: its own plan, or the same under the schedule that stands in the row, where a version
/// that started later has declared another one. A schedule that cannot be read here is a newer version's, which comes by itself.
pub(super) fn plan(own: Option<&Arc<Plan>>, claim: &Claim) -> Option<Arc<Plan>> {
    let own = own.filter(|_| claim.standing)?;
    let stored = claim
        .schedule
        .as_deref()
        .filter(|stored| *stored != own.text());
    let Some(stored) = stored else {
        return Some(Arc::clone(own));
    };
    match own.under(stored) {
        Ok(plan) => Some(Arc::new(plan)),
        Err(mistake) => {
            tracing::warn!(
                task = claim.task,
                "the schedule {stored:?} in the store cannot be read ({mistake}): the run goes by {:?}",
                own.text()
            );
            Some(Arc::clone(own))
        }
    }
}

/// What is known of a run that was claimed at one instant and ended at another, by the store's clock.
pub(super) fn facts<'a>(
    claim: &Claim,
    plan: Option<&'a Arc<Plan>>,
    claimed_at: i64,
    ended_at: i64,
) -> Facts<'a> {
    Facts {
        standing: plan.map(|plan| Standing {
            plan,
            slot: claim.slot_at,
        }),
        attempt: claim.attempt,
        crashes: claim.crashes,
        refusals: claim.refusals,
        due_at: claim.due_at,
        claimed_at,
        ended_at,
        jitter: || f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX),
    }
}

/// What the job's fences are numbers of: the task has one standing job, and any number of others.
pub(super) fn fence_name(task: &Definition, claim: &Claim) -> String {
    if claim.standing {
        return task.name.to_owned();
    }
    // Under the name that the job has in the store: fences of a former one are not to be forgotten. The id alone tells them apart: a long name may be cut to what a name may have.
    let id = claim.key.job.to_string();
    let name = &*claim.task;
    let most = name.floor_char_boundary(MAX_NAME_BYTES - 1 - id.len());
    format!("{}#{id}", &name[..most.min(name.len())])
}

/// The end that a transaction of the handler's may write.
pub(super) fn success(
    task: &Definition,
    claim: &Claim,
    plan: Option<&Arc<Plan>>,
    claimed_at: i64,
) -> Finish {
    let facts = facts(claim, plan, claimed_at, claimed_at);
    let then = succeeded(task, &facts);
    Finish {
        passed: facts.passed(&Outcome::Succeeded, then),
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
