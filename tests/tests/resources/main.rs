//! Jobs that take a second lease, on a name, with worker processes on real databases: jobs of several tasks
//! and code by hand exclude each other by the name, whoever is killed, and nobody else pays for it. Each
//! figure is printed.
//!
//! Run `cargo test -p tasklock-tests --test resources -- --nocapture` to see the figures.

#[macro_use]
extern crate tasklock_tests;

mod support;

mod behind;
mod crash;
mod ends;
mod loss;
mod named;
mod speed;
mod storm;
