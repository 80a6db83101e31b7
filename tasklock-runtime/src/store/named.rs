//! Named leases: what is asked of a store, and what it answers.
//!
//! A name is a row of the job table, of a task that no program can have: free while it is `ready` (it is never
//! due, and no worker asks for its task), held while it is `running`. So everything that holds of a job's lease
//! holds of it, by the same statements: renewals in the same batch, guards, release by (owner, fence), reading
//! back. Only the acquisition is its own: take the row if it is free, insert it if there is none, or take it over if
//! its lease has expired, in two statements as every takeover.
//!
//! # The line
//!
//! Who waits has a **ticket**, and a row in a table of its own that lasts for a while after each try
//! ([`PATIENCE`]). The tickets' ids are the order. A free name is for the first ticket that lasts: others, with or
//! without a ticket, jobs that need the name too, are told that it is held. The try, the place in the line and the taking are
//! one statement, and nothing is granted by anybody but the one who takes it: a ticket whose owner has died costs its
//! patience and no more, and a lease is never anybody's who does not know of it.
//!
//! Whoever gives a name back looks, **after** that is committed, who is first, and tells that one alone; where it sees nobody,
//! it tells nothing and writes nothing, for names are given back by the thousand for which nobody waits. Whoever takes a place
//! looks, after **that** is committed, whether the name has become free, and tries once more if it has. Each writes
//! before it reads, so one of them sees the other: a ticket that was written in this very moment is not overlooked. In
//! one statement the look would be as old as the statement's snapshot, and both could miss. (SQLite has one writer, and
//! whoever waits sees each change of the file.) What is missed otherwise, for the one who gave the name back died
//! before its look, is found at the next try.
//!
//! # Many at once
//!
//! A call acquires many names, each of them for somebody else. What it grants is granted: where a later part of the call fails and is tried
//! again, what it holds by then is not asked for a second time, for it would be told that somebody has it. What cannot be
//! had says so for its own name alone. An error is the whole call's.
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
    /// Who waits for it, over several tries; `None` does not wait, and gets nothing that others wait for.
    pub ticket: Option<OwnerToken>,
}

/// What became of an acquisition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acquired {
    /// It is held now.
    Granted(LeaseKey),
    /// Somebody else holds it, for so long at least unless it is given back, or stands before this one in the line and has
    /// so long to take it; zero if it may be free by now.
    Held(Duration),
}

/// How long a place in the line lasts after a try. Whoever waits tries again before; who has died holds up the others
/// for so long at most.
pub const PATIENCE: Duration = Duration::from_secs(3);

/// What those who wait for names hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// It is the turn of the one with this ticket.
    Turn(String),
    /// This name is free, and who waited for it has gone.
    Free(String),
    /// Something has changed.
    Any,
    /// News arrive from now on; whatever was told before may have been missed.
    Live,
    /// News do not arrive for the time being.
    Deaf,
}
