//! The worker process that the tests of the main job drive: each test runs some of its tasks
//! (`TASKLOCK_ONLY`), listens to what they say, and does bad things to the process.

mod ends;
mod holders;
mod losers;
mod pool;
mod slots;
mod strategies;
mod troubled;

use tasklock_tests::stage::{Guard, database, nothing, say, url};

/// `current`: one thread for everything, so that a handler that blocks it blocks all of it.
const FLAVOR: &str = "WORKER_FLAVOR";

fn main() -> Result<(), tasklock_runtime::Error> {
    let mut builder = if std::env::var(FLAVOR).as_deref() == Ok("current") {
        tokio::runtime::Builder::new_current_thread()
    } else {
        tokio::runtime::Builder::new_multi_thread()
    };
    let runtime = builder
        .enable_all()
        .build()
        .expect("threads can be started");
    runtime.block_on(async {
        if pool::is_wanted() {
            pool::run().await
        } else {
            tasklock_runtime::run().await
        }
    })
}
