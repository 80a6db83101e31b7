//! What tasklock does in a second, beside what the same database does without it.
//!
//! `tasklock-bench MEASUREMENT --system SYSTEM --url URL [--jobs N] [--slots N] [--batch N] [--keep]`
//!
//! | measurement | |
//! | --- | --- |
//! | `throughput` | enqueues no-op jobs, then runs them all: jobs a second from the worker's start to the last end in the store |
//! | `enqueue` | jobs a second in one call, one by one, and one by one by 16 callers at once |
//! | `latency` | milliseconds from the return of an enqueue to the start of its handler, of an idle worker, 300 times |
//! | `leases` | named leases, acquired and given back: cycles a second of one caller, and of 16 with a name each |
//!
//! | system | |
//! | --- | --- |
//! | `tasklock` | as its users have it: `--slots` runs at once |
//! | `raw` | the least SQL that claims, and ends by owner and fence, `--batch` jobs a statement, on `--slots` connections |
//!
//! Ended jobs are deleted, or stay with `--keep`. What an earlier run left is dropped first. Prints one line of JSON.

mod options;
mod raw;
mod tasklock;
mod times;

use anyhow::Result;
use options::{Measurement, Options, System};
use rustix::time::{ClockId, clock_gettime};

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<()> {
    let options = Options::from_arguments()?;
    let mut figures = match (options.system, options.measurement) {
        (System::Tasklock, Measurement::Throughput) => tasklock::throughput(&options).await?,
        (System::Tasklock, Measurement::Enqueue) => tasklock::enqueue(&options).await?,
        (System::Tasklock, Measurement::Latency) => tasklock::latency(&options).await?,
        (System::Tasklock, Measurement::Leases) => tasklock::leases(&options).await?,
        (System::Raw, Measurement::Throughput) => raw::throughput(&options).await?,
        (System::Raw, Measurement::Enqueue) => raw::enqueue(&options).await?,
        (System::Raw, Measurement::Latency) => raw::latency(&options).await?,
        (System::Raw, Measurement::Leases) => raw::leases(&options).await?,
    };
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let micros = used.tv_sec as f64 * 1e6 + used.tv_nsec as f64 / 1e3;
    figures["client_cpu_us_per_job"] = (micros / options.jobs as f64).round().into();
    println!("{}", options.with(figures));
    Ok(())
}
