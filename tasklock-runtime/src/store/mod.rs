//! The durable truth: one trait, and a file per database that knows how to keep it.
//!
//! Not public API. It is visible so that one conformance suite can hold every store to the same
//! contract; it may change in any release.
//!
//! # The rows
//!
//! A **job** row is the mutex of everything that happens to it: its state, its due time, and, while a
//! run is under way, the owner token, the fence and the first `lock_until`. It changes only at a
//! claim and at an end. A **heartbeat** side row (job, fence, `lock_until`) takes the renewals, where
//! a database has many writers: a lease is alive while either `lock_until` is ahead, and a side row
//! counts only with the job row's own fence. SQLite and the memory store have one writer, for whom a
//! side row would buy nothing; Redis scripts run one at a time: there one row serves.
//!
//! A job is its task's one **standing** job (its unique key is empty), which is declared and never ends, or it was
//! **enqueued**, with a payload, and ends: `ready → running → done | dead | cancelled`, or back to `ready`.
//! Ended rows stay until their `prune_at`, which the end has written; then any worker deletes them.
//!
//! All instants come from the store's clock, read inside the statement. Every write but the claim
//! itself names (job, owner, fence), and answers with the ids that it changed: a count proves
//! nothing, the ids do. Own transactions are READ COMMITTED whatever the server's default, for a
//! takeover in a snapshot does not see the renewal that came before its lock. On Postgres their statements are planned once
//! for each connection, by indexes alone: to plan a claim took three times as long as to carry it out, and a plan that
//! was made while a table was small went on reading all of it. Where a name is looked for, it is in a subquery of its own:
//! joined, with few statistics, all names were read.
//!
//! # The verbs, and how each database does them
//!
//! **declare**: one standing job per task, inserted if missing, and what a start makes of the one that is there
//! (`declaring.rs`, one rule for all stores); a row that is as it should be is not written. Starts exclude each other.
//! **tend** keeps former names, and finds standing jobs that have gone.
//!
//! **claim**: rows whose lease has expired, then rows that are due (a backlog of these, which fills each
//! claim, would else put off the takeovers to its end); fence + 1, a fresh owner. Due rows go in one
//! statement (Postgres: `FOR UPDATE SKIP LOCKED` inside the `UPDATE`; MariaDB: the
//! `SELECT … SKIP LOCKED`, then the `UPDATE` by id, in a transaction). Takeover is **two** statements
//! in one READ COMMITTED transaction on Postgres and MariaDB: lock the candidates, then look at their
//! renewals again under the lock. In one statement the renewals are read from a snapshot that is
//! older than the lock, and live leases get taken: seen, by the hundred. SQLite: both in one
//! `BEGIN IMMEDIATE`. Redis: one script over the due set and the expiry set. The answer says how long
//! until something can happen to these tasks, so that idle workers sleep until then and do not poll.
//!
//! *Which due rows.* Each job has a rank, its due time less a second for each point of its priority; the least
//! come first, over all tasks, so that nothing waits for ever. The index is by (task, priority, due time): a
//! claim steps through the priorities that wait in each of its tasks, looks at the first due rows of each, and
//! so finds how many it takes where. It never meets rows that are not due, nor another worker's tasks.
//!
//! *Limits.* The runs of a task with `concurrency` are counted, and new ones started, by one claim at a time: in
//! a snapshot taken after the task was locked (Postgres: an advisory lock of the transaction, tried and not
//! waited for; MariaDB: a row of its own; SQLite and Redis have one writer). Only such a claim makes the count
//! rise, a takeover leaves it as it is, so it never exceeds the limit. A row that is running counts, its lease
//! expired or not, and so does one whose `hold_until` is ahead. Paused tasks and queues, a small table, are left out
//! of claims and takeovers alike.
//!
//! *Suspects.* Rows that expired together were held by one process, and one of them may have taken it down: those
//! with more than half of the crashes that they may have are taken over a few at a time (`run/suspects.rs`).
//!
//! *Resources.* A row that needs a second lease gets it in the same transaction, by the statements of **acquire**, with
//! the claim's own token. A row that does not get it is put back and **parked**: its due time moves to another column,
//! so that it is no due row any more, and thousands of them cost a claim nothing. With it go the next ones that are due and
//! need the same name. When the name is given back, the first parked row of each task falls due again. On Postgres the
//! two transactions may overlap: whoever gives back looks for parked rows after its commit, and whoever parks looks at
//! the name after its own, so one of them sees the other (each writes before it reads). A holder that dies tells
//! nobody, and a process may die between commit and look: so a claim sweeps over the names that jobs are parked for, once
//! a second while there are any. A row that is taken over inherits the name from the run before, by its token, whatever
//! that row's expiry says: the two leases of a run are one belief, which has ended. **finish** gives the name back
//! in the same statement, as one more row that ends; where its row is locked just then, it is tried again.
//!
//! **renew**: one statement for up to 500 leases. It locks the job row in a shared mode, skips those
//! that it cannot lock, never waits, and never moves an expiry backwards. Postgres:
//! `FOR KEY SHARE SKIP LOCKED` and an upsert of the side rows; MariaDB: `LOCK IN SHARE MODE SKIP
//! LOCKED` and `ON DUPLICATE KEY UPDATE`; SQLite: one `UPDATE … RETURNING`; Redis: one script. An id
//! that is missing from the answer is not lost yet: **inspect** reads the row, and decides. What handlers say of their
//! progress goes along, beside the expiry, and counts with the job row's own fence; a claim clears it where one row
//! serves.
//!
//! **finish** and **release**: lock the rows in the order of their ids, update those that match
//! (owner, fence), then drop their side rows: without the lock first, the drop and a renewal wait for
//! each other. (A release on Postgres does all of it in one statement, which reads the locked rows in full before it drops
//! anything; whoever waits for a name is looked for after its commit, see `named.rs`.) A finish moves the job to its next due time; a release makes it due as before, its
//! attempt unused. A row that somebody else has locked (its own late renewal, a guarded transaction) is
//! skipped, not waited for: a waiting call would hold up its whole batch. So an id that is missing from
//! the answer proves nothing here either: read it back, and if it is still ours, try again. One
//! transaction on the SQL stores; one script on Redis.
//!
//! **enqueue**: rows are written as they are, in statements of a thousand, all in one transaction. A unique key
//! is one that a partial unique index has: a conflict is waited for (the other may roll back), and then answered
//! with who has the key; if nobody has it any more, it is tried again. Keys are written in order, so that two
//! callers do not wait for each other in a circle. (Redis: a script for each thousand, which is written whole or not at
//! all; one for all of a large call would hold up everybody.) **insertion** gives what is needed to do the same in the
//! application's own transaction, which is told apart by the store's id.
//!
//! **cancel**: a waiting job ends there and then. A running one is only marked: its owner keeps the row, so that nothing
//! else can start in its place, but is not renewed any more, finds the mark when it reads the row back, and ends it as
//! cancelled. If the owner is dead, the next one that takes the row over does.
//!
//! **abandon**: gives back whatever a claim took whose reply was lost, found by its token among the
//! running rows. A claim that commits even later simply expires: the ttl is the guarantee, this only
//! shortens the wait.
//!
//! **trigger**: makes a waiting job due now, and says what it found. One transaction under the row's
//! lock; one script on Redis.
//!
//! **acquire**: a named lease is a row of the job table, of a task that nobody can have; see `named.rs`. Its renewal,
//! its guard and its release are those of any job. Postgres: rows that are free, and that nobody waits for, are taken by one statement,
//! which is all there is, as a rule; the rest by another one, which also inserts what is
//! missing and takes places in the line; what has expired is taken in two more, in a transaction. SQLite:
//! all in one `BEGIN IMMEDIATE`, after a look that writes nothing.
//!
//! # Rows that this version did not write
//!
//! A later version's, or somebody's own: one of them must not stop the rest, and a statement that fails
//! at one row fails for all, again and again. So no statement computes with a column unguarded. Instants
//! are told and written between the years 1 and 9999, infinity included; counts stay between zero and
//! the last number. A row is left alone, and waited for by nobody, if its state is unknown, if it has no
//! fence left (a fence never wraps), if it is running and says no expiry (nobody knows that its owner is
//! dead), and on SQLite if its due time, expiry or fence is no number. `UPDATE` such a row to free it. A
//! claim drops side rows of the fence that it gives out or of later ones, which can be no renewals.

#[cfg(any(feature = "postgres", feature = "redis"))]
mod announced;
#[cfg(any(feature = "postgres", feature = "sqlite", feature = "redis"))]
mod columns;
mod connect;
mod declaration;
mod declaring;
#[cfg(any(feature = "postgres", feature = "sqlite", feature = "redis"))]
mod forward;
mod insertion;
mod job;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod listening;
pub mod memory;
#[cfg(feature = "mysql")]
mod mysql;
mod named;
#[cfg(any(feature = "postgres", feature = "sqlite", feature = "redis"))]
mod pauses;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "postgres", feature = "sqlite", feature = "mysql"))]
pub mod schema;
#[cfg(any(feature = "postgres", feature = "sqlite", feature = "mysql"))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
mod types;
mod wake;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

pub use connect::{Options, Pool, Source, connect, redact};
pub use declaration::Declaration;
pub use insertion::{EnqueueTransaction, Inserting};
pub(crate) use job::timestamp;
pub use job::{Cancelled, Due, Enqueued, Job, JobQuery, JobState, NewJob, Pausable, Retried};
pub use named::{Acquire, Acquired, LEASES, News, PATIENCE};
#[cfg(any(
    feature = "postgres",
    feature = "sqlite",
    feature = "mysql",
    feature = "redis"
))]
pub(crate) use types::span;
pub use types::{
    Claim, ClaimBatch, ClaimRequest, Finish, JobRow, Looker, Renewal, Resource, Triggered, Wanted,
};
pub(crate) use types::{answered, between};
pub use wake::{Looked, Wake};

use crate::error::StoreError;
pub use crate::lease::Anchor;
use crate::lease::{LeaseKey, OwnerToken};

pub use crate::task::{Counts, Missed, Passed, Then};

/// How a transaction is committed under a lease, for the conformance suite.
pub use crate::lease::Guarded;

/// What every verb returns.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The most leases that one call renews, finishes or releases; callers chunk.
pub const MAX_BATCH: usize = 500;

/// Where jobs and leases live.
///
/// Conflicts that the same call may survive (serialization, deadlock, busy) are retried inside; what
/// comes out as an error is for the caller to act on.
pub trait Store: Steer + Send + Sync + fmt::Debug {
    /// The store and its address, credentials redacted.
    fn name(&self) -> &str;

    /// Creates or upgrades the tables; safe when any number of processes do it at once.
    fn migrate(&self) -> StoreFuture<'_, ()>;

    /// Refuses tables that are missing or of an incompatible version.
    fn check_schema(&self) -> StoreFuture<'_, ()>;

    /// The store's clock.
    fn now(&self) -> StoreFuture<'_, i64>;

    /// Makes sure that each task's standing job exists under its present schedule; answers whether it does, or an instant
    /// has come meanwhile that was still to come when it was computed.
    fn declare<'a>(&'a self, declarations: &'a [Declaration]) -> StoreFuture<'a, bool>;

    /// Keeps the former names of these tasks from those who know nothing newer; answers which tasks have no standing job, and
    /// should.
    fn tend<'a>(&'a self, declarations: &'a [Declaration]) -> StoreFuture<'a, Vec<String>>;

    /// Takes due and expired rows.
    fn claim<'a>(&'a self, request: &'a ClaimRequest) -> StoreFuture<'a, ClaimBatch>;

    /// Acquires named leases, each of another name; answers in the same order.
    fn acquire<'a>(&'a self, wanted: &'a [Acquire]) -> StoreFuture<'a, Vec<Acquired>>;

    /// Gives a place in the line for a name up.
    fn leave<'a>(&'a self, name: &'a str, ticket: &'a OwnerToken) -> StoreFuture<'a, ()>;

    /// Watches for names that are given back, for ever.
    fn watch_leases(
        &self,
        hear: Box<dyn Fn(News) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// Writes ends; answers the jobs that were written.
    fn finish<'a>(&'a self, ends: &'a [Finish]) -> StoreFuture<'a, Vec<i64>>;

    /// Gives leases back; answers the jobs that were.
    fn release<'a>(&'a self, keys: &'a [LeaseKey]) -> StoreFuture<'a, Vec<i64>>;

    /// Gives back what a claim took whose reply was lost; answers how many rows.
    fn abandon<'a>(&'a self, token: &'a OwnerToken) -> StoreFuture<'a, u64>;

    /// Says of a job which resource it needs, if nobody has said it before, and gives it back, unused: in one, for a run
    /// has no resource that it does not hold. It is held under this lease.
    fn assign<'a>(&'a self, key: &'a LeaseKey, resource: &'a str) -> StoreFuture<'a, ()>;

    /// Writes new jobs, all of them or none; answers what became of each, in the same order.
    fn enqueue<'a>(&'a self, jobs: &'a [NewJob]) -> StoreFuture<'a, Vec<Enqueued>>;

    /// What a transaction of this store's database needs so that jobs can be enqueued in it.
    fn insertion(&self) -> Arc<Anchor>;

    /// Deletes up to so many ended jobs whose time has come; answers how many.
    fn prune(&self, most: usize) -> StoreFuture<'_, usize>;

    /// Makes a task due now; `None` if the store has no such task.
    fn trigger<'a>(&'a self, task: &'a str) -> StoreFuture<'a, Option<Triggered>>;

    /// Reads rows.
    fn inspect<'a>(&'a self, jobs: &'a [i64]) -> StoreFuture<'a, Vec<JobRow>>;

    /// Reads the standing job of a task.
    fn standing<'a>(&'a self, task: &'a str) -> StoreFuture<'a, Option<JobRow>>;

    /// What a lease needs so that this store's own transactions can be committed under it: its row, and
    /// the end to write where the transaction completes the job.
    fn anchor(&self, end: Finish, ttl: Duration) -> Arc<Anchor>;

    /// A way to renew that shares nothing with this store's other connections.
    fn renewer(&self) -> Box<dyn Renewer>;

    /// Watches for announced work: calls `wake` whenever some may have come, for ever. Returns at
    /// once where the store announces nothing and workers must poll.
    fn watch(
        &self,
        wake: Box<dyn Fn(Wake) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// Closes the store's connections.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// What operators ask of a store.
pub trait Steer {
    /// Reads a job.
    fn job(&self, job: i64) -> StoreFuture<'_, Option<Job>>;

    /// Lists jobs, the newest first.
    fn jobs<'a>(&'a self, query: &'a JobQuery) -> StoreFuture<'a, Vec<Job>>;

    /// Cancels a job; `None` if there is none.
    fn cancel(&self, job: i64) -> StoreFuture<'_, Option<Cancelled>>;

    /// Makes a job due now, whatever has become of it; `None` if there is none.
    fn retry(&self, job: i64) -> StoreFuture<'_, Option<Retried>>;

    /// Starts no run of this any more, or does so again; answers whether that was new.
    fn pause<'a>(&'a self, what: &'a Pausable, pause: bool) -> StoreFuture<'a, bool>;

    /// What is paused.
    fn paused(&self) -> StoreFuture<'_, Vec<Pausable>>;
}

/// The heartbeat's own connection, opened on first use and again after a [`reset`](Self::reset). It
/// is used from one thread with one runtime, other than the store's.
pub trait Renewer: Send {
    /// Opens the connection if it is not open.
    fn connect(&mut self) -> StoreFuture<'_, ()>;

    /// Renews up to [`MAX_BATCH`] leases; answers the confirmed ones. Never waits for a row's lock.
    fn renew<'a>(&'a mut self, renewals: &'a [Renewal]) -> StoreFuture<'a, Vec<i64>>;

    /// Reads the rows of leases that a renewal did not confirm.
    fn inspect<'a>(&'a mut self, jobs: &'a [i64]) -> StoreFuture<'a, Vec<JobRow>>;

    /// Gives leases back. Whoever waits for their names is told by [`tell`](Self::tell).
    fn release<'a>(&'a mut self, keys: &'a [LeaseKey]) -> StoreFuture<'a, Vec<i64>>;

    /// Tells whoever waits for the names of these leases, which were given back or are not ours any more: not before the
    /// release is committed, and apart from it, so that the one who gives back does not wait for that.
    fn tell<'a>(&'a mut self, keys: &'a [LeaseKey]) -> StoreFuture<'a, ()>;

    /// Drops a connection that failed, or in whose midst a call was dropped.
    fn reset(&mut self);
}
