//! The main job on real databases, with worker processes that are killed, stopped, cut off and
//! asked to end: what is promised must hold, and each figure is printed.
//!
//! Run `cargo test -p tasklock-tests --test main_job -- --nocapture` to see the figures.

#[macro_use]
extern crate tasklock_tests;

mod support;

mod blocked;
mod durable;
mod ends;
mod environment;
mod exit;
mod far;
mod file;
mod gone;
mod huge;
mod idle;
mod killed;
mod lost;
mod outage;
mod paused;
mod renew;
mod shutdown;
mod silent;
mod slots;
mod slow;
mod strategies;
mod stuck;
mod thousand;
mod unwritable;
