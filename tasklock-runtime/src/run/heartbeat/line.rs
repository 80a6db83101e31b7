//! The heartbeat's line to the store: its connection, and how long opening one may take.
//!
//! To open one takes several round trips, and logging in its time; far away that is more than a call may
//! take, and a bound that cannot be kept would never let it. But an attempt that hangs, for somebody in
//! between accepts connections and passes nothing on, is time that an outage lasts longer. So an attempt
//! gets twice what the last one took that succeeded, at least half a call; and three calls while none
//! has, or when so many have failed that no lease of before is left to be saved.

use std::time::Duration;

use tokio::time::timeout;

use crate::error::StoreError;
use crate::lease::Clock;
use crate::store::{Renewer, StoreFuture};

/// Each takes half a call at least: with the pauses between them more than a ttl.
const SHORT_ATTEMPTS: u32 = 16;

pub(super) struct Line {
    pub(super) renewer: Box<dyn Renewer>,
    open: bool,
    took: Option<Duration>,
    failed: u32,
}

impl Line {
    pub(super) fn new(renewer: Box<dyn Renewer>) -> Self {
        Self {
            renewer,
            open: false,
            took: None,
            failed: 0,
        }
    }

    /// Opens the connection if it is not open.
    pub(super) async fn connect(
        &mut self,
        call: Duration,
        clock: &dyn Clock,
    ) -> Result<(), StoreError> {
        if self.open {
            return Ok(());
        }
        let most = self.patience(call);
        self.connect_within(most, clock).await
    }

    /// The same with a bound of its own.
    pub(super) async fn connect_within(
        &mut self,
        most: Duration,
        clock: &dyn Clock,
    ) -> Result<(), StoreError> {
        let from = clock.now();
        let what = "connect for the heartbeat";
        match bounded(most, what, self.renewer.connect()).await {
            Ok(()) => {
                self.took = Some(clock.now().since(from));
                self.open = true;
                self.failed = 0;
                Ok(())
            }
            Err(error) => {
                self.failed = self.failed.saturating_add(1);
                Err(error)
            }
        }
    }

    /// Drops the connection.
    pub(super) fn reset(&mut self) {
        self.open = false;
        self.renewer.reset();
    }

    fn patience(&self, call: Duration) -> Duration {
        match self.took {
            Some(took) if self.failed < SHORT_ATTEMPTS => (2 * took).clamp(call / 2, 3 * call),
            _ => 3 * call,
        }
    }
}

/// One call to the store.
pub(super) async fn bounded<T>(
    call: Duration,
    what: &'static str,
    future: StoreFuture<'_, T>,
) -> Result<T, StoreError> {
    timeout(call, future)
        .await
        .unwrap_or_else(|_| Err(StoreError::no_answer("the store", what, call)))
}
