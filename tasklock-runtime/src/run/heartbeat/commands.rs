//! What the heartbeat thread is told.

use super::Command;
use super::keeper::Keeper;
use crate::lease::{RenewError, RenewRequest};

impl Keeper {
    /// Answers whether it is to stop.
    pub(super) fn obey(&mut self, command: Command) -> bool {
        match command {
            Command::GiveBack(lease) => self.give_back(lease),
            Command::Rest => self.rest(),
            #[cfg(any(test, feature = "testing"))]
            Command::Settle(done) => self.settling.push(done),
            Command::Stop => return true,
        }
        false
    }

    pub(super) fn ask(&mut self, request: RenewRequest) {
        let now = self.clock.now();
        let mut table = self.table.lock();
        match table.leases.get_mut(&request.key) {
            Some(lease) => {
                lease.next_beat = now;
                lease.asked.push(request.reply);
                table.wake_by(now);
            }
            None => {
                let ended = RenewError::Unconfirmed("the run has ended".into());
                let _ = request.reply.send(Err(ended));
            }
        }
    }
}
