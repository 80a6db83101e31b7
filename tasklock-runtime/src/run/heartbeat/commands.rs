//! What the heartbeat thread is told.

use tokio::sync::oneshot;

use super::keeper::Keeper;
use super::lease::Lease;
use super::{Command, Kept};
use crate::lease::{LeaseKey, RenewError, RenewRequest};

impl Keeper {
    /// Answers whether it is to stop.
    pub(super) fn obey(&mut self, command: Command) -> bool {
        match command {
            Command::Keep(kept) => self.keep(kept),
            Command::Forget(key, done) => self.forget(&key, done),
            Command::GiveBack(lease) => self.give_back(lease),
            Command::Rest => self.rest(),
            #[cfg(any(test, feature = "testing"))]
            Command::Settle(done) => self.settling.push(done),
            Command::Stop => return true,
        }
        false
    }

    fn keep(&mut self, kept: Kept) {
        let lease = Lease::new(kept);
        let deadline = lease.kept.status.deadline().unwrap_or(lease.next_beat);
        self.wake_by(lease.next_beat.min(deadline));
        self.leases.insert(lease.kept.key.clone(), lease);
    }

    fn forget(&mut self, key: &LeaseKey, done: oneshot::Sender<()>) {
        match self.leases.get_mut(key) {
            Some(lease) if lease.beating => lease.forget = Some(done),
            _ => {
                self.leases.remove(key);
                let _ = done.send(());
            }
        }
    }

    pub(super) fn ask(&mut self, request: RenewRequest) {
        let now = self.clock.now();
        match self.leases.get_mut(&request.key) {
            Some(lease) => {
                lease.next_beat = now;
                lease.asked.push(request.reply);
                self.wake_by(now);
            }
            None => {
                let ended = RenewError::Unconfirmed("the run has ended".into());
                let _ = request.reply.send(Err(ended));
            }
        }
    }
}
