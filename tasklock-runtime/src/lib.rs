//! Run an async function on **one replica at a time**, under a lease that tells the function when it is
//! lost, on the SQL database you already have.
//!
//! ```no_run
//! use tasklock_runtime::{LeaseContext, TaskResult, locked_task};
//!
//! /// Refreshes the exchange rates: on one replica at a time, every five seconds.
//! #[locked_task(ttl = "30s", heartbeat = "10s", every = "5s")]
//! async fn refresh_rates(lease: LeaseContext) -> TaskResult {
//!     for currency in ["EUR", "USD"] {
//!         lease.check()?; // Err(LeaseLost) as soon as the lease is lost
//!         println!("refreshing {currency}, fence {}", lease.fence());
//!     }
//!     Ok(())
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), tasklock_runtime::Error> {
//!     tasklock_runtime::run().await
//! }
//! ```
//!
//! # How it is laid out
//!
//! Data flows one way: attribute → registration → registry → scheduler → claim → lease and heartbeat
//! → handler → outcome → store. Modules import leftwards only:
//!
//! `fault, error ← lease ← task ← store ← run ← client, runtime, testing`
//!
//! - `lease`: what holding a lease means; the argument why it is safe stands there
//! - `task`: what a task is: definition, parameters, schedule, outcome, registration
//! - `store`: the durable truth; one trait, one folder per database
//! - `run`: what a worker does
//! - `client` and `runtime`: what an application calls; `testing`: what its unit tests do
//!
//! # What is promised
//!
//! `GUARANTEES.md` in the repository says for each store what holds, under which assumptions, what is
//! impossible, and which test shows it.
//!
//! # Cargo features
//!
//! - `sqlite` (default): leases in a SQLite file, for one machine
//! - `postgres`: leases in PostgreSQL
//! - `mysql`: leases in MariaDB (10.6 or newer) and MySQL 8
//! - `redis`: leases in Redis; `redis-tls`: also by `rediss://`
//! - `testing`: the module `tasklock_runtime::testing`, for the dev-dependencies of whoever tests handlers
//!
//! Foreign types in the public API: `serde`'s traits (1), `sqlx` pools and transactions (0.9),
//! `jiff::Timestamp` (1), and `tokio_util::sync::CancellationToken` (0.7). A new major version of one is a
//! new major version here.

#[doc(hidden)]
pub mod __private;
mod client;
mod error;
#[cfg(feature = "__faults")]
#[doc(hidden)]
pub mod fault;
#[cfg(not(feature = "__faults"))]
mod fault;
mod lease;
mod run;
mod runtime;
#[doc(hidden)]
pub mod store;
mod task;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use tasklock_macros::locked_task;

pub use crate::client::{Client, Enqueue, EnqueueMany, Jobs};
pub use crate::error::{Error, StoreError, StoreErrorKind};
pub use crate::lease::{
    BootClock, Clock, CommitError, FenceError, FencedTransaction, GuardedTransaction, LeaseContext,
    LeaseKey, LeaseLost, Moment, OwnerToken, Progress, RenewError, fence_table,
};
pub use crate::run::{
    Ended, Event, EventKind, Events, Handler, LeaseGuard, LeaseRequest, LockError, Missed,
};
pub use crate::runtime::{Runtime, RuntimeBuilder, ShutdownHandle, preview, run};
pub use crate::store::memory::Memory;
#[cfg(sql)]
pub use crate::store::schema::{Dialect, Names, fence_table_sql, schema_sql};
pub use crate::store::{
    Cancelled, EnqueueTransaction, Enqueued, Job, JobState, Pausable, Pool, Retried, Triggered,
};
pub use crate::task::{
    BoxError, Discard, ExtractError, FromRun, IntoOutcome, JobSpec, Next, OnLost, Outcome, Payload,
    Renew, Requirements, RetryAfter, RunParts, Snooze, State, TaskResult, TaskSpec,
};

/// Keeps a library of tasks in the program: `tasklock_runtime::link!(my_jobs);` in `main.rs`.
///
/// The linker drops a crate that nothing names, and its tasks with it. This names it.
#[macro_export]
macro_rules! link {
    ($($library:ident),+ $(,)?) => {
        $(
            #[allow(unused_imports)]
            use $library as _;
        )+
    };
}
