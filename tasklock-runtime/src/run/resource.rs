//! Jobs that lack the second lease which their task needs.
//!
//! They were enqueued by name, or by a version that knew of no resource. The worker that takes such a job makes the name
//! of its payload, writes it into the row, and gives the job back, unused: the next claim takes both leases. A
//! payload that makes no name ends the run, as one that cannot be read.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::completion::End;
use super::scheduler::Scheduler;
use super::slots::Seat;
use crate::lease::Moment;
use crate::store::{Claim, Counts, Finish, Passed, Then};
use crate::task::{Outcome, Registration};

const CALL: Duration = Duration::from_secs(5);
/// How long the job waits where the store did not take the name.
const PAUSE: Duration = Duration::from_secs(1);

impl Registration {
    /// The name of the second lease that a claim should have, and has not.
    pub(super) fn missing_resource(&self, claim: &Claim) -> Option<String> {
        if claim.resource.is_some() {
            return None;
        }
        self.resource_of(claim.payload.as_deref())?.ok()
    }
}

impl Scheduler {
    /// The claim, if it has what its task needs; or sees to it that the next one has.
    pub(super) fn equipped(
        &mut self,
        registration: &'static Registration,
        claim: Claim,
        seat: Seat,
        sent: Moment,
    ) -> Option<(Claim, Seat)> {
        let Some(name) = registration.missing_resource(&claim) else {
            return Some((claim, seat));
        };
        let store = Arc::clone(&self.store);
        let bench = Arc::clone(&self.bench);
        let deadline = sent + registration.definition.timing().ttl;
        self.runs.spawn(async move {
            let key = claim.key;
            let assigned = timeout(CALL, store.assign(&key, &name)).await;
            // Where it is not given back, it is not tried again at once.
            if !matches!(assigned, Ok(Ok(()))) {
                tracing::warn!(
                    job = key.job,
                    "the resource of a job cannot be noted: {assigned:?}"
                );
                let later = Finish {
                    key,
                    then: Then::Again(PAUSE, Counts::Nothing),
                    outcome: Outcome::Interrupted.as_str(),
                    error: None,
                    hold: None,
                    frees_place: true,
                    resource: None,
                    passed: Passed::default(),
                };
                bench.completion.write(End::Finish(later), deadline).await;
            }
            drop(seat);
            bench.alarm.now();
        });
        None
    }
}
