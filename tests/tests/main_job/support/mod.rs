//! Where the cases run, and who runs in them.

mod audit;
mod link;

pub(crate) use audit::{grant, watch};
pub(crate) use link::Link;
pub(crate) use tasklock_tests::stage::{
    BOUND, Place, Row, alone, beside, cpu, field, next_start, number, ready, spread, start_of,
    started,
};

use tasklock_test_support::process::Worker;
use tasklock_tests::stage;

/// One line on standard error, whatever the harness captures.
pub(crate) fn print(line: &str) {
    stage::print("main_job", line);
}

/// Starts a worker with these tasks on this database.
#[track_caller]
pub(crate) fn worker(url: &str, tasks: &str, more: &[(&str, &str)]) -> Worker {
    stage::worker(env!("CARGO_BIN_EXE_main_job_worker"), url, tasks, more)
}
