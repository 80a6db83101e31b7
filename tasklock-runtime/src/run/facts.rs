//! What a claim says of its run.

use tasklock_grammar::MAX_NAME_BYTES;

use crate::store::{Claim, Finish};
use crate::task::{Definition, Facts, Outcome, succeeded};

/// What is known of a run that was claimed at one instant and ended at another, by the store's clock.
pub(super) fn facts(claim: &Claim, claimed_at: i64, ended_at: i64) -> Facts {
    Facts {
        standing: claim.standing,
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
    // The id alone tells them apart: a long name may be cut to what a name may have.
    let id = claim.key.job.to_string();
    let most = task.name.floor_char_boundary(MAX_NAME_BYTES - 1 - id.len());
    format!("{}#{id}", &task.name[..most.min(task.name.len())])
}

/// The end that a transaction of the handler's may write.
pub(super) fn success(task: &Definition, claim: &Claim, claimed_at: i64) -> Finish {
    Finish {
        key: claim.key.clone(),
        then: succeeded(task, &facts(claim, claimed_at, claimed_at)),
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

    fn claim(job: i64, standing: bool) -> Claim {
        Claim {
            key: LeaseKey {
                job,
                fence: 1,
                owner: OwnerToken::fresh(),
            },
            task: "task".into(),
            due_at: 0,
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
        assert_eq!(fence_name(&task, &claim(7, true)), "task");
        assert_eq!(fence_name(&task, &claim(7, false)), "task#7");
        assert_ne!(
            fence_name(&task, &claim(8, false)),
            fence_name(&task, &claim(7, false))
        );
        let long: &'static str = Box::leak("ö".repeat(MAX_NAME_BYTES / 2).into_boxed_str());
        let name = fence_name(&Definition::new(long), &claim(i64::MAX, false));
        assert!(name.len() <= MAX_NAME_BYTES && name.ends_with(&format!("#{}", i64::MAX)));
    }
}
