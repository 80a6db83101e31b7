//! A store whose clock a test moves.

use std::sync::Arc;
use std::time::Duration;

use super::Memory;
use super::rows::Stored;
use crate::lease::OwnerToken;
use crate::store::{ClaimRequest, JobState, Wanted};
use crate::task::micros;

impl Memory {
    /// An empty store, whose clock this is: microseconds since the Unix epoch.
    pub(crate) fn on(clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self {
            clock: Some(Arc::new(clock)),
            ..Self::default()
        }
    }

    /// How long until a claim may find something; `None` if that will never be.
    pub(crate) fn wait_for_work(&self, tasks: Vec<Wanted>) -> Option<Duration> {
        let found = self.claim_now(&ClaimRequest {
            token: OwnerToken::fresh(),
            worker: String::new(),
            tasks,
            limit: 0,
            suspects: 1,
            sweep: false,
            quick: false,
            tell: None,
        });
        let wait = found.wait?;
        let at = found.now.saturating_add(micros(wait));
        let rows = self.rows();
        let is_due = |job: &Stored| {
            let waits = job.state == JobState::Ready && job.lease.is_none();
            waits && job.due_at.is_some_and(|due| due <= at)
        };
        let ends = |job: &Stored| job.lease.as_ref().is_some_and(|held| held.until == at);
        // The last moment of a lease is its holder's: it is taken over after it.
        let after = rows.jobs.values().any(ends) && !rows.jobs.values().any(is_due);
        Some(wait + Duration::from_micros(u64::from(after)))
    }
}
