//! The kit for unit tests of tasks (`tasklock_runtime::testing`): a lease in a test's hands, and a runtime
//! that it moves.
//!
//! No test here waits for time to pass: those that bound a failure do so by tokio's clock, which is paused.

mod enqueued;
mod lease;
mod run_due;
mod schedules;
mod transactions;
