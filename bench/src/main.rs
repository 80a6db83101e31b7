//! What tasklock does in a second, beside what the same database does without it, and what others do on it.
//!
//! `tasklock-bench MEASUREMENT --system SYSTEM --url URL [--jobs N] [--slots N] [--batch N] [--minutes N] [--keep] [--across]`
//!
//! | measurement | of | |
//! | --- | --- | --- |
//! | `throughput` | all | runs `--jobs` no-op jobs: a second, from the worker's start to the last end in the store |
//! | `enqueue` | all | jobs a second in calls of a thousand and more, one by one, and one by one by 16 callers at once |
//! | `latency` | all | milliseconds from an enqueue's return to the start of its handler, of an idle worker, 300 times; with `--across` another process enqueues |
//! | `idle` | all | what a worker without work costs: what the server counts of it, and its own processor time; tasklock's has 200 scheduled tasks |
//! | `leases` | tasklock, raw | named leases, acquired and given back: cycles a second of one caller, and of 16 with a name each |
//! | `heartbeat` | tasklock | what `--jobs` leases cost that one process holds |
//! | `backlog` | tasklock | the first 20,000 jobs out of `--jobs`, against 20,000 alone |
//! | `fleet` | tasklock | eight processes against one: with work, and idle with a slot every second |
//! | `takeover` | tasklock | milliseconds until a job runs elsewhere, after its holder was killed, and after it was stopped |
//! | `churn` | tasklock | dead rows and the tables' sizes while `--jobs` jobs a second come and go for `--minutes`, beside 1,000 held leases |
//! | `micro` | tasklock | nanoseconds of what happens in the process alone; takes no `--url` |
//!
//! | system | |
//! | --- | --- |
//! | `tasklock` | as its users have it: `--slots` runs at once, or with `--slots default` what it has by itself |
//! | `raw` | the least SQL, or Lua, that claims, and ends by owner and fence, `--batch` jobs a statement, on `--slots` connections |
//! | `graphile_worker`, `apalis`, `sqlxmq`, `underway`, `fang` | with the cargo feature `peers` |
//!
//! Ended jobs are deleted, or stay with `--keep`, where a system leaves the choice. The URL is of Postgres, of MariaDB, of a
//! SQLite file or of Redis: each measurement makes a database of its own beside it, and removes it; on Redis it takes one of the
//! numbered ones that is empty. What a store cannot tell is refused. Prints one line of JSON.

mod measure;
mod options;
mod place;
mod process;
mod store;
mod systems;
mod times;

use std::process::ExitCode;

use anyhow::Result;
use options::Options;
use place::Place;

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    if let Err(error) = run().await {
        // One line, whatever is set for backtraces.
        eprintln!("tasklock-bench: {error:#}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

async fn run() -> Result<()> {
    let options = Options::from_arguments()?;
    let place = Place::at(options.url.as_deref()).await?;
    let figures = measure::figures(&options, &place).await;
    place.clear().await?;
    if let Some(figures) = figures? {
        println!("{}", options.with(figures));
    }
    Ok(())
}
