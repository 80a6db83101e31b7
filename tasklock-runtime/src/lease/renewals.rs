//! Where a handler's `renew()` goes.

#[cfg(any(test, feature = "testing"))]
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::context::RenewError;
use super::identity::LeaseKey;

/// Asks the heartbeat for a renewal at once.
#[derive(Debug)]
pub(crate) struct RenewRequest {
    pub(crate) key: LeaseKey,
    pub(crate) reply: oneshot::Sender<Result<(), RenewError>>,
}

/// Whoever answers the renewals that a handler asks for.
#[derive(Clone)]
pub(crate) enum Renewals {
    /// The heartbeat's thread.
    Heartbeat(mpsc::UnboundedSender<RenewRequest>),
    /// A test, on the spot.
    #[cfg(any(test, feature = "testing"))]
    Test(Arc<dyn Fn(RenewRequest) + Send + Sync>),
}

impl Renewals {
    /// Asks; an error means that nobody is there to answer any more.
    pub(crate) fn send(&self, request: RenewRequest) -> Result<(), Gone> {
        match self {
            Self::Heartbeat(heartbeat) => heartbeat.send(request).map_err(|_| Gone),
            #[cfg(any(test, feature = "testing"))]
            Self::Test(answer) => {
                answer(request);
                Ok(())
            }
        }
    }
}

/// The heartbeat has ended.
#[derive(Debug)]
pub(crate) struct Gone;
