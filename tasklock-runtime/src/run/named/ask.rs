//! Asking the store once, and what becomes of its answer.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tasklock_grammar::Timing;
use tokio::time::timeout;

use super::acquisitions::Told;
use super::guard::Held;
use super::{LeaseGuard, LeaseRequest};
use crate::error::{Error, StoreError};
use crate::lease::{
    Anchor, Completing, ContextParts, LeaseContext, LeaseKey, LeaseStatus, Moment, OwnerToken,
    Trust,
};
use crate::run::heart::Heart;
use crate::run::heartbeat::{Heartbeat, Kept};
use crate::store::{Acquire, Acquired, Finish};
use crate::task::{OnLost, Renew};

impl LeaseRequest {
    /// Asks the store once; answers the guard, or for how long somebody else has the lease.
    pub(super) async fn ask(
        &self,
        timing: &Timing,
        ticket: Option<&OwnerToken>,
        call: Duration,
    ) -> Result<Result<LeaseGuard, Duration>, Error> {
        let heartbeat = self.heart.beat()?;
        let wanted = || Acquire {
            name: self.name.clone(),
            owner: OwnerToken::fresh(),
            worker: self.worker.clone(),
            ttl: timing.ttl,
            ticket: ticket.cloned(),
        };
        let asking = self.heart.acquire(&heartbeat, wanted);
        let Ok(told) = timeout(call, asking).await else {
            let store = self.heart.store().name();
            return Err(StoreError::no_answer(store, "acquire a lease", call).into());
        };
        let Told {
            acquired,
            sent,
            mut doubt,
        } = told?;
        match acquired {
            Acquired::Granted(key) => {
                let guard = self.grant(key, timing, sent, heartbeat);
                doubt.resolve();
                if guard.check().is_err() {
                    // It came too late to be trusted: dropping it gives it back.
                    return Ok(Err(Duration::ZERO));
                }
                Ok(Ok(guard))
            }
            Acquired::Held(left) => Ok(Err(left)),
        }
    }

    fn grant(
        &self,
        key: LeaseKey,
        timing: &Timing,
        sent: Moment,
        heartbeat: Arc<Heartbeat>,
    ) -> LeaseGuard {
        let trust = Trust::of(timing);
        let clock = self.heart.clock();
        let mut status = LeaseStatus::held(trust.deadline(sent), Arc::clone(clock));
        let run = self.run.as_ref().map(LeaseContext::parts);
        if let Some(run) = run {
            status = status.within(Arc::clone(&run.status));
        }
        let status = Arc::new(status);
        let name: Arc<str> = self.name.as_str().into();
        let keeping = heartbeat.keep(Kept {
            task: Arc::clone(&name),
            key: key.clone(),
            resource: None,
            ttl: timing.ttl,
            heartbeat: timing.heartbeat,
            renew: Renew::Auto,
            trust,
            on_lost: OnLost::Signal,
            status: Arc::clone(&status),
            granted: sent,
        });
        let context = LeaseContext::new(ContextParts {
            is_named: true,
            fence_name: self.fence_name().into(),
            task: name,
            key: key.clone(),
            attempt: 1,
            scheduled_for: Timestamp::now(),
            status: Arc::clone(&status),
            shutdown: self.shutdown.clone(),
            renewals: heartbeat.renewals(),
            ttl: timing.ttl,
            anchors: self.anchors(key, timing.ttl),
            resource: None,
            home: Arc::<Heart>::downgrade(&self.heart),
            completion: Completing::default(),
        });
        LeaseGuard(Arc::new(Held {
            context,
            status,
            keeping: Some(keeping),
            ttl: timing.ttl,
            heart: Arc::clone(&self.heart),
            _heartbeat: heartbeat,
        }))
    }

    /// Its own row, and those of the run that it is for.
    fn anchors(&self, key: LeaseKey, ttl: Duration) -> Vec<Arc<Anchor>> {
        // A transaction that completes it gives it back.
        let end = Finish::of_name(key);
        let own = self.heart.store().anchor(end, ttl);
        let run = self.run.as_ref().map(LeaseContext::parts);
        let run = run.map(|run| run.anchors.clone()).unwrap_or_default();
        std::iter::once(own).chain(run).collect()
    }
}
