//! For unit tests of tasks: a lease to call a handler with, and a runtime that a test moves by hand.
//!
//! With the cargo feature `testing`, which belongs into the dev-dependencies:
//!
//! ```toml
//! [dev-dependencies]
//! tasklock-runtime = { version = "0.1", features = ["testing"] }
//! ```
//!
//! # The handler as a function
//!
//! `#[locked_task]` leaves the function as it was written. A [`TestLease`] is the lease that it is called
//! with; [`State::new`](crate::State::new) and `Payload(value)` are its other parameters. The test says
//! when the lease is lost and why, and how much time passes.
//!
//! # The task as the runtime runs it
//!
//! A [`TestRuntime`] has a store in memory and a clock that stands still unless the test moves it. What is
//! due at that moment it runs when told to: with its real parameters, retries, backoff and schedule, through
//! the code that runs it in production. What it does not do is look for work by itself, so that no test
//! waits, and each finds the same every time.
//!
//! ```
//! use std::time::Duration;
//!
//! use tasklock_runtime::testing::TestRuntime;
//! use tasklock_runtime::{LeaseContext, Outcome, Payload, TaskResult, locked_task};
//!
//! #[locked_task(retries = 1, backoff = "1m..1m")]
//! async fn send_invoice(lease: LeaseContext, number: Payload<u32>) -> TaskResult {
//!     if lease.attempt() == 1 {
//!         Err("the mailbox is full")?;
//!     }
//!     println!("sent {}", *number);
//!     Ok(())
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tasklock_runtime::Error> {
//! let rt = TestRuntime::builder().only([send_invoice::NAME]).build().await?;
//! send_invoice::enqueue(&rt.client(), 42).await?;
//! assert_eq!(rt.enqueued::<send_invoice, _>(), [42]);
//!
//! let ran = rt.run_due().await;
//! assert_eq!(ran[0].outcome.error().as_deref(), Some("the mailbox is full"));
//!
//! rt.advance(Duration::from_secs(60)).await;
//! let ran = rt.run_due().await;
//! assert_eq!((ran[0].attempt, &ran[0].outcome), (2, &Outcome::Succeeded));
//! # Ok(())
//! # }
//! ```
//!
//! # What goes by which clock
//!
//! | | clock |
//! | --- | --- |
//! | due times, schedules, backoff, `min_hold`, `stall`, leases and their expiry, [`LeaseContext::remaining`](crate::LeaseContext::remaining) | the test's |
//! | `timeout`, and whatever a handler itself waits for (`tokio::time::sleep`) | tokio's: under `#[tokio::test(start_paused = true)]`, of tokio's feature `test-util`, it takes no real time either |
//!
//! A named lease whose guard is dropped is given back by a thread, soon after: where the next step needs it free, let the
//! code under test call [`release`](crate::LeaseGuard::release). To let time pass while a handler runs, join them:
//! `tokio::join!(rt.run_due(), rt.advance(d))`.
//!
//! # What it is not
//!
//! Memory is one process: what several replicas do to each other, and what a database does to a
//! transaction, is not tested here. A [`commit`](crate::LeaseContext::commit) or
//! [`complete_in`](crate::LeaseContext::complete_in) of a real `sqlx` transaction commits while the lease is
//! held, without a row that guards it. Enqueueing [`within`](crate::Enqueue::within) a transaction is
//! refused, for there is none of the store's: test that on a SQLite file.

mod jobs;
mod runtime;

pub use crate::lease::testing::TestLease;
pub use runtime::{Ran, TestRuntime, TestRuntimeBuilder};
