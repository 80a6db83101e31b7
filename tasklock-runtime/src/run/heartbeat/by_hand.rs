//! The heartbeat under a clock that a test moves: it beats when the test has moved it, and the test waits
//! for that.

use tokio::sync::oneshot;

use super::keeper::Keeper;
use super::{Command, Heartbeat};
use crate::lease::Moment;

impl Heartbeat {
    /// Waits until everything is done that is due by the clock; answers when the next beat or deadline is.
    pub(crate) async fn settle(&self) -> Moment {
        let (done, settled) = oneshot::channel();
        let _ = self.commands.send(Command::Settle(done));
        // An error means that the thread is gone: nothing is ever due any more.
        settled.await.unwrap_or(Moment::from_nanos(u64::MAX))
    }
}

impl Keeper {
    pub(super) fn settled(&mut self) {
        let wake_at = self.table.lock().wake_at;
        if self.in_flight.is_none() && self.clock.now() < wake_at {
            for done in self.settling.drain(..) {
                let _ = done.send(wake_at);
            }
        }
    }
}
