//! The systems, each behind the same few calls.

#[cfg(feature = "peers")]
pub mod apalis;
#[cfg(feature = "peers")]
pub mod fang;
#[cfg(feature = "peers")]
pub mod graphile_worker;
pub mod raw;
#[cfg(feature = "peers")]
mod schema;
#[cfg(feature = "peers")]
pub mod sqlxmq;
pub mod tasklock;
#[cfg(feature = "peers")]
pub mod underway;

use std::ops::Range;

use anyhow::Result;

use crate::options::Options;

/// What a worker is for. Where a system's fastest settings would be absurd for anything else, only the throughput is
/// measured with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Throughput,
    Latency,
    Idle,
}

/// A queue in a database, as its users have it. Jobs have a number, which their handler gives to `times::ran`.
pub trait System: Sized + Send + Sync + 'static {
    type Worker: Worker;

    /// Makes the tables in an empty database.
    async fn install(url: &str) -> Result<()>;

    /// For enqueueing.
    async fn connect(url: &str, options: &Options) -> Result<Self>;

    /// Enqueues one job; returns when it is committed.
    fn enqueue(&self, number: u32) -> impl Future<Output = Result<()>> + Send;

    /// Enqueues these jobs by the fastest means the system has.
    async fn enqueue_many(&self, numbers: Range<u32>) -> Result<()>;

    /// A query for how many jobs have not ended, or for 1 where there are any.
    fn unended(&self) -> &'static str;

    /// A worker with its connections, which does nothing yet.
    async fn worker(url: &str, options: &Options, purpose: Purpose) -> Result<Self::Worker>;

    /// For enqueueing in a process that has a worker, where a system has something of its own for that.
    fn beside(_worker: &Self::Worker, _options: &Options) -> Option<Self> {
        None
    }
}

/// Runs jobs, in the background, from its start to its stop.
pub trait Worker {
    async fn start(&mut self) -> Result<()>;

    /// Gives up its connections too, where the system allows that; so the server has its counts.
    async fn stop(self) -> Result<()>;
}

/// Lets a worker end that was asked to; but not for long.
#[cfg(feature = "peers")]
async fn ended<T>(running: tokio::task::JoinHandle<T>) {
    let abort = running.abort_handle();
    if tokio::time::timeout(PATIENCE, running).await.is_err() {
        abort.abort();
    }
}

#[cfg(feature = "peers")]
async fn closed(closing: impl Future<Output = ()>) {
    // What is still held is closed with the process.
    let _ = tokio::time::timeout(PATIENCE, closing).await;
}

#[cfg(feature = "peers")]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);
