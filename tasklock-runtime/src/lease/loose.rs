//! Leases that no store knows of, for tests.

use std::sync::{Arc, Weak};
#[cfg(test)]
use std::time::Duration;

use jiff::Timestamp;
use tasklock_grammar::Timing;
use tokio_util::sync::CancellationToken;

#[cfg(test)]
use super::{BootClock, Clock, LeaseContext, RenewRequest};
use super::{Completing, ContextParts, LeaseKey, LeaseStatus, OwnerToken, Renewals, Unguarded};

/// The first attempt at job 1 under a lease that no store knows of.
pub(super) fn parts(task: &str, status: Arc<LeaseStatus>, renewals: Renewals) -> ContextParts {
    ContextParts {
        task: task.into(),
        is_named: false,
        fence_name: task.into(),
        key: LeaseKey {
            job: 1,
            fence: 1,
            owner: OwnerToken::fresh(),
        },
        attempt: 1,
        scheduled_for: Timestamp::UNIX_EPOCH,
        ttl: Timing::DEFAULT_TTL,
        status,
        shutdown: CancellationToken::new(),
        renewals,
        anchors: vec![Arc::new(Unguarded::new(|| true, || {}))],
        resource: None,
        home: Weak::<()>::new(),
        completion: Completing::default(),
    }
}

/// What a test of this crate has in its hands: the lease; its status, to lose it by; and what it asks of
/// the heartbeat.
#[cfg(test)]
type Tested = (
    LeaseContext,
    Arc<LeaseStatus>,
    tokio::sync::mpsc::UnboundedReceiver<RenewRequest>,
);

/// One that is held for an hour, and whose renewals the test answers itself.
#[cfg(test)]
pub(crate) fn lease() -> Tested {
    lease_for(Duration::from_secs(3600))
}

/// One that expires, by the real clock.
#[cfg(test)]
pub(crate) fn lease_for(time: Duration) -> Tested {
    let clock: Arc<dyn Clock> = Arc::new(BootClock);
    let deadline = clock.now() + time;
    let status = Arc::new(LeaseStatus::held(deadline, clock));
    let (renewals, asked) = tokio::sync::mpsc::unbounded_channel();
    let renewals = Renewals::Heartbeat(renewals);
    let lease = LeaseContext::new(parts("tested", Arc::clone(&status), renewals));
    (lease, status, asked)
}
