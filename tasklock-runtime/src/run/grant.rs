//! From a claim to a run: its leases, which the heartbeat keeps from here on, and what its handler sees of them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jiff::Timestamp;

use super::execution::Run;
use super::facts::{OfSlot, fence_name, success};
use super::heart::Heart;
use super::heartbeat::Kept;
use super::scheduler::Scheduler;
use crate::fault;
use crate::lease::{
    Anchor, Completing, ContextParts, LeaseContext, LeaseStatus, Moment, ResourceParts, Trust,
};
use crate::store::{Claim, Finish};
use crate::task::{Definition, Passed, Registration};

impl Scheduler {
    /// Turns a claim into a lease, which the heartbeat keeps from here on.
    pub(super) fn grant(
        &self,
        registration: &'static Registration,
        claim: Claim,
        sent: Moment,
        claimed_at: i64,
    ) -> Box<Run> {
        let definition = &registration.definition;
        let slot = OfSlot::of(self.registry.plan(registration), &claim, claimed_at);
        let timing = definition.timing();
        let trust = Trust::of(&timing);
        let status = LeaseStatus::held(trust.deadline(sent), Arc::clone(&self.clock));
        let status = Arc::new(status.stalling(definition.stall(), sent));
        let task: Arc<str> = definition.name.into();
        let keeping = self.bench.heartbeat.keep(Kept {
            task: Arc::clone(&task),
            key: claim.key.clone(),
            resource: claim
                .resource
                .as_ref()
                .filter(|_| !fault::has("the second lease is not renewed"))
                .map(|resource| resource.key.clone()),
            ttl: timing.ttl,
            heartbeat: timing.heartbeat,
            renew: definition.renewal(),
            trust,
            on_lost: definition.on_lost,
            status: Arc::clone(&status),
            granted: sent,
        });
        fault::at("lease kept");
        if claim.takeover {
            tracing::warn!(
                task = definition.name,
                job = claim.key.job,
                fence = claim.key.fence,
                attempt = claim.attempt,
                "taken over: the lease of the run before had expired"
            );
        }
        let context = LeaseContext::new(ContextParts {
            is_named: false,
            task,
            fence_name: fence_name(definition, &claim).into(),
            key: claim.key.clone(),
            attempt: claim.attempt,
            scheduled_for: Timestamp::from_microsecond(claim.stands_for())
                .unwrap_or(Timestamp::UNIX_EPOCH),
            ttl: timing.ttl,
            status: Arc::clone(&status),
            shutdown: self.stop.clone(),
            renewals: self.bench.heartbeat.renewals(),
            anchors: self.anchors(definition, &claim, slot.as_ref(), claimed_at),
            resource: claim.resource.as_ref().map(|resource| ResourceParts {
                name: resource.name.as_str().into(),
                fence: resource.key.fence,
            }),
            home: Arc::<Heart>::downgrade(&self.heart),
            completion: Completing::default(),
        });
        let span = tracing::info_span!(
            "task",
            task = definition.name,
            job = claim.key.job,
            attempt = claim.attempt,
            fence = claim.key.fence,
        );
        let run = Box::new(Run {
            registration,
            claim,
            slot,
            context,
            status,
            keeping,
            claimed_at,
            granted: sent,
            mourned: AtomicBool::new(false),
            span,
        });
        run.tell_claimed(&self.bench);
        run
    }

    /// The job's row first, then that of its resource: all holders take them in this order.
    fn anchors(
        &self,
        task: &Definition,
        claim: &Claim,
        slot: Option<&OfSlot>,
        claimed_at: i64,
    ) -> Vec<Arc<Anchor>> {
        let ttl = task.timing().ttl;
        let end = success(task, claim, slot, claimed_at);
        let resource = claim.resource.as_ref().map(|resource| Finish {
            key: resource.key.clone(),
            resource: None,
            passed: Passed::default(),
            ..end.clone()
        });
        let resource = resource.filter(|_| !fault::has("the guard looks at the job alone"));
        let ends = std::iter::once(end).chain(resource);
        ends.map(|end| self.store.anchor(end, ttl)).collect()
    }
}
