//! What is known of a run at its end.

use super::Then;
use crate::task::schedule::{Claimed, Next, Plan};

/// What is known of a run at its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'a> {
    /// If it is its task's standing job.
    pub(crate) standing: Option<Standing<'a>>,
    pub(crate) attempt: u32,
    pub(crate) crashes: u32,
    pub(crate) refusals: u32,
    /// About when its run ended, by the store's clock.
    pub(crate) ended_at: i64,
    /// Anything from 0 to 1.
    pub(crate) jitter: fn() -> f64,
}

/// What a standing job goes by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) claimed: Claimed,
    /// How it ends where the claim is not run.
    pub(crate) skipping: Option<Then>,
}

impl Standing<'_> {
    pub(super) fn next(&self) -> (Next, u32) {
        self.plan.next(&self.claimed)
    }
}

impl Facts<'_> {
    /// How many slots an end passes over for which its run stood.
    pub(crate) fn missed(&self, then: Then) -> u32 {
        match (self.standing, then) {
            (Some(standing), Then::Slot(_)) if standing.skipping.is_none() => standing.next().1,
            _ => 0,
        }
    }
}
