//! Faults, on real databases and real processes: each scenario hurts a fleet of workers in one way, again
//! and again, lets it recover, and then has the oracle read what the store did and what every process
//! believed. Each prints one row of a table: `cargo test -p tasklock-tests --test faults`.
//!
//! The columns: scenario, store, faults that bit, overlaps of guarded runs, overlaps of the unguarded
//! canary, jobs lost, takeovers (from the expiry to the next claim: median / most, number), the least
//! early-loss margin (from the old holder's last successful check to that claim). Where jobs were enqueued
//! meanwhile, a line says how many, and what became of them.

use tasklock_tests::stage::database;

mod arena;
mod audit;
mod booking;
mod clerk;
mod draw;
mod evidence;
mod life;
mod life_catches;
mod mistaken;
mod oracle;
mod oracle_catches;
mod orders;
mod place;
mod policy;
mod seat;
mod second;

#[macro_use]
mod scenario;
mod contention;
mod controls;
mod inside;
mod kills;
mod network;
mod outages;
mod pauses;
mod soak;

use std::time::Duration;

/// Whatever a test waits for comes within this time, or the test fails.
const BOUND: Duration = Duration::from_secs(60);
