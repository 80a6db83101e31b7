//! Where the cases run, and who runs in them.

mod audit;
#[macro_use]
mod both;
mod figures;
mod link;
mod place;
mod row;
mod workers;

pub(crate) use both::{alone, beside};
pub(crate) use figures::{print, spread};
pub(crate) use link::Link;
pub(crate) use place::Place;
pub(crate) use row::Row;
pub(crate) use workers::{cpu, field, next_start, number, ready, start_of, started, worker};

use std::time::Duration;

/// Whatever a test waits for comes within this time, or the test fails.
pub(crate) const BOUND: Duration = Duration::from_secs(60);
