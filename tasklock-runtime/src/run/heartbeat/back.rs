//! How leases are given back over the heartbeat's own connection.

use std::time::Duration;

use tokio::time::timeout;

use super::Return;
use super::keeper::Keeper;
use super::line::Line;
use crate::error::StoreError;
use crate::lease::{LeaseKey, LeaseLost};
use crate::store::MAX_BATCH;

/// How long `on_lost = "exit"` waits for the other leases to be given back.
const EXIT_PATIENCE: Duration = Duration::from_secs(1);
/// `EX_TEMPFAIL`: try again elsewhere.
const EXIT_CODE: i32 = 75;

impl Keeper {
    pub(super) fn give_back(&mut self, lease: Return) {
        let mut table = self.table.lock();
        match table.leases.get_mut(&lease.key) {
            Some(kept) if kept.beating => kept.give_back = Some(lease),
            _ => {
                table.leases.remove(&lease.key);
                table.wake_by(self.clock.now());
                self.returns.push(lease);
            }
        }
    }

    pub(super) fn rest(&mut self) {
        if self.table.lock().leases.is_empty()
            && self.returns.is_empty()
            && let Some(line) = &mut self.line
        {
            line.reset();
        }
    }

    /// The thread ends: what it was asked to give back is tried once more.
    pub(super) async fn give_back_the_rest(&mut self) {
        let keys: Vec<LeaseKey> = self.returns.drain(..).map(|lease| lease.key).collect();
        if let Some(line) = &mut self.line
            && !keys.is_empty()
        {
            let _ = timeout(EXIT_PATIENCE, give_back_all(line, &keys)).await;
        }
    }

    /// Ends the process for a lost lease with `on_lost = "exit"`.
    ///
    /// The other leases are marked lost first, so that no `check()` and no guarded write of their
    /// handlers succeeds after they are given back; what a handler does without either in the
    /// moment between is not stopped. This process claims nothing any more, for it would be the first to hear
    /// of what it gives back.
    pub(super) async fn exit(&mut self) {
        self.leaving.cancel();
        if let Some(in_flight) = self.in_flight.take()
            && let Ok(beaten) = timeout(EXIT_PATIENCE, in_flight).await
        {
            self.line = Some(beaten.line);
        }
        let held = self.lose_all();
        let given_back = match &mut self.line {
            _ if held.is_empty() => true,
            Some(line) => {
                let release = timeout(EXIT_PATIENCE, give_back_all(line, &held));
                matches!(release.await, Ok(Ok(())))
            }
            None => false,
        };
        if !given_back {
            tracing::warn!("the other leases could not be given back; they expire");
        }
        std::process::exit(EXIT_CODE);
    }

    /// Ends the belief in every lease that is held; answers their keys.
    fn lose_all(&self) -> Vec<LeaseKey> {
        let table = self.table.lock();
        let held = table.leases.values();
        held.filter(|lease| lease.kept.status.check().is_ok())
            .flat_map(|lease| {
                lease.kept.status.lose(LeaseLost::Released);
                [Some(lease.kept.key.clone()), lease.kept.resource.clone()]
            })
            .flatten()
            .collect()
    }
}

async fn give_back_all(line: &mut Line, keys: &[LeaseKey]) -> Result<(), StoreError> {
    line.connect_within(EXIT_PATIENCE).await?;
    for keys in keys.chunks(MAX_BATCH) {
        line.renewer.release(keys).await?;
        line.renewer.tell(keys).await?;
    }
    Ok(())
}
