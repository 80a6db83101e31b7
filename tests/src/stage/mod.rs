//! Where the cases of a suite with worker processes run, and who runs in them.

pub mod database;

mod both;
mod figures;
mod handler;
mod mirror;
mod notes;
mod place;
mod row;
mod workers;

pub use both::{alone, beside};
pub use database::Database;
pub use figures::{print, spread};
pub use handler::{Guard, nothing, say, url};
pub use mirror::Mirror;
pub use notes::{Note, Notes};
pub use place::Place;
pub use row::{Left, Row};
pub use workers::{cpu, field, next_start, number, ready, start_of, started, worker};

use std::time::Duration;

/// Whatever a test waits for comes within this time, or the test fails.
pub const BOUND: Duration = Duration::from_secs(60);
