//! Slots under clocks that are wrong, workers that are away, and versions that differ: on real databases, with worker
//! processes.
//!
//! Run `cargo test -p tasklock-tests --test schedules -- --nocapture` to see the figures.

#[macro_use]
extern crate tasklock_tests;

mod clock;
mod clocks;
mod deploys;
mod log;
mod missed;
mod paused;
mod renamed;
mod spring;
