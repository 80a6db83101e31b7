//! A lease for unit tests, which no store knows of.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    BootClock, Clock, Completing, ContextParts, LeaseContext, LeaseKey, LeaseStatus, OwnerToken,
    RenewRequest,
};

/// What a test has in its hands: the lease; its status, to lose it by; and what it asks of the heartbeat.
type Tested = (
    LeaseContext,
    Arc<LeaseStatus>,
    mpsc::UnboundedReceiver<RenewRequest>,
);

/// One that is held for an hour.
pub(crate) fn lease() -> Tested {
    lease_for(Duration::from_secs(3600))
}

/// One that expires.
pub(crate) fn lease_for(time: Duration) -> Tested {
    let clock: Arc<dyn Clock> = Arc::new(BootClock);
    let deadline = clock.now() + time;
    let status = Arc::new(LeaseStatus::held(deadline, clock));
    let (renewals, asked) = mpsc::unbounded_channel();
    let lease = LeaseContext::new(ContextParts {
        fence_name: "task".into(),
        task: "tested".into(),
        key: LeaseKey {
            job: 1,
            fence: 1,
            owner: OwnerToken::fresh(),
        },
        attempt: 1,
        scheduled_for: Timestamp::UNIX_EPOCH,
        ttl: time,
        status: Arc::clone(&status),
        shutdown: CancellationToken::new(),
        renewals,
        anchors: vec![Arc::new(())],
        resource: None,
        home: Arc::new(()),
        completion: Completing::default(),
    });
    (lease, status, asked)
}
