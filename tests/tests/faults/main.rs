//! Faults, on real databases and real processes: each scenario hurts a fleet of workers in one way, again
//! and again, lets it recover, and then has the oracle read what the store did and what every process
//! believed. Each prints one row of a table: `cargo test -p tasklock-tests --test faults`.
//!
//! The columns: scenario, store, faults that bit, overlaps of guarded runs, overlaps of the unguarded
//! canary, jobs lost, takeovers (from the expiry to the next claim: median / most, number), the least
//! early-loss margin (from the old holder's last successful check to that claim). Where jobs were enqueued
//! meanwhile, a line says how many, and what became of them.
//!
//! On Redis each scenario has a server of its own, which keeps what it has acknowledged (`appendfsync always`). Its
//! scripts write the log (`tests/src/torment/scripts.rs`), and effects are in a SQLite file of the application's, under
//! fences that are registered there (`elsewhere`). What is left out there, and why:
//!
//! - `pauses::stopped_in_a_guarded_transaction`, that of the file, `network::a_commits_reply_is_lost`, the task `ships`,
//!   and orders within a transaction: no transaction can be part of Redis, so there is no guard, and no COMMIT of it
//! - `contention::deadlocks_and_serialization_failures`: scripts run one at a time, and lock nothing;
//!   `contention::an_operators_commands` is what somebody else can do to them
//! - `outages::disk_full`: what a full server refuses, one without its replicas refuses in `outages::read_only`, too;
//!   `redis::refused` fills one
//! - `pauses::stopped_shortly`, and of `inside` what hurts the process above all stores: its pool, its clocks, its name,
//!   its version
//! - of the controls those whose mistake is above all stores, in a guard, or in what SQL alone has

use tasklock_tests::stage::database;

mod arena;
mod audit;
mod booking;
mod clerk;
mod draw;
mod elsewhere;
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
mod server;

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
