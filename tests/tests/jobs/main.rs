//! On-demand jobs on real databases, with worker processes that are killed, stopped and asked to end:
//! what is promised must hold, and each figure is printed.
//!
//! Run `cargo test -p tasklock-tests --test jobs -- --nocapture` to see the figures.

#[macro_use]
extern crate tasklock_tests;

mod support;

mod ahead;
mod ends;
mod enqueue;
mod fairness;
mod held;
mod kills;
mod limited;
mod poison;
mod priority;
mod retries;
mod shutdown;
mod start;
mod steer;
mod together;
mod unreadable;
