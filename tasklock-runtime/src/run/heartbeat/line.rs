//! The heartbeat's line to the store: its connection, and how long opening one may take.
//!
//! To open one takes several round trips, and logging in its time; far away that is more than a call may
//! take, and a bound that cannot be kept would never let it. But an attempt that hangs, for somebody in
//! between accepts connections and passes nothing on, is time that an outage lasts longer. So an attempt
//! gets half of what is left of the trust that it is to save: whatever becomes of it, another one can
//! follow. It gets half a call at least and three calls at most; and these while none has succeeded.

use std::time::Duration;

use tokio::time::timeout;

use crate::error::StoreError;
use crate::store::{Renewer, StoreFuture};

pub(super) struct Line {
    pub(super) renewer: Box<dyn Renewer>,
    open: bool,
    was_open: bool,
}

impl Line {
    pub(super) fn new(renewer: Box<dyn Renewer>) -> Self {
        Self {
            renewer,
            open: false,
            was_open: false,
        }
    }

    /// Opens the connection if it is not open; `left` is the least trust that waits for it.
    pub(super) async fn connect(
        &mut self,
        call: Duration,
        left: Duration,
    ) -> Result<(), StoreError> {
        let most = if self.was_open {
            (left / 2).clamp(call / 2, 3 * call)
        } else {
            3 * call
        };
        self.connect_within(most).await
    }

    /// The same with a bound of its own.
    pub(super) async fn connect_within(&mut self, most: Duration) -> Result<(), StoreError> {
        if !self.open {
            bounded(most, "connect for the heartbeat", self.renewer.connect()).await?;
            (self.open, self.was_open) = (true, true);
        }
        Ok(())
    }

    /// Drops the connection.
    pub(super) fn reset(&mut self) {
        self.open = false;
        self.renewer.reset();
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
