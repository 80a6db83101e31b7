//! The worker process that the tests of jobs drive: each test runs some of its tasks (`TASKLOCK_ONLY`,
//! `TASKLOCK_QUEUES`), listens to what they say, and does bad things to the process.
//!
//! | variable | |
//! | --- | --- |
//! | `WORKER_BARE` | the application gives its handlers no state |
//! | `WORKER_LEAVES` | the process ends with `run()`, whatever its threads do |

mod application;
mod blocking;
mod ends;
mod failing;
mod guarded;
mod holding;
mod limited;
mod plain;
mod poison;

use serde_json::json;
use tasklock_runtime::{Error, LeaseContext, Runtime};
use tasklock_test_support::process::emit;
use tasklock_tests::stage::{nothing, say};

use application::{Answers, Application};

fn main() -> Result<(), Error> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    let threads = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("threads can be started");
    let ran = threads.block_on(async {
        let mut builder = Runtime::builder();
        if std::env::var_os("WORKER_BARE").is_none() {
            builder = builder.state(Application::open()).state(Answers::default());
        }
        builder.build().await?.run().await
    });
    emit("returned", json!({ "well": ran.is_ok() }));
    if std::env::var_os("WORKER_LEAVES").is_some() {
        // Dropping it would wait for the threads that handlers block.
        threads.shutdown_background();
    }
    ran
}

/// Says that a run has started.
fn say_start(lease: &LeaseContext) {
    say("start", lease, nothing());
}
