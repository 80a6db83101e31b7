//! Named leases: what is asked of a store, and what it answers.
//!
//! A name is a row of the job table, of a task that no program can have: free while it is `ready` (it is never
//! due, and no worker asks for its task), held while it is `running`. So everything that holds of a job's lease
//! holds of it, by the same statements: renewals in the same batch, guards, release by (owner, fence), reading
//! back. Only the acquisition is its own: take the row if it is free, insert it if there is none, or take it over if
//! its lease has expired, in two statements as every takeover.
//!
//! A row that nobody has held for a day is deleted. Fences do not go back with it: each acquisition takes the next
//! number of one sequence, under the row's lock.

use std::time::Duration;

use crate::lease::{LeaseKey, OwnerToken};

/// The task of the rows that are named leases. No program may have it.
pub const LEASES: &str = "tasklock.lease";

/// A named lease to acquire.
#[derive(Debug, Clone)]
pub struct Acquire {
    /// Its name.
    pub name: String,
    /// Fresh for this acquisition.
    pub owner: OwnerToken,
    /// Who asks, for operators only.
    pub worker: String,
    /// How long it lasts without renewal.
    pub ttl: Duration,
}

/// What became of an acquisition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acquired {
    /// It is held now.
    Granted(LeaseKey),
    /// Somebody else holds it, for so long at least unless it is given back; zero if it may be free by now.
    Held(Duration),
}
