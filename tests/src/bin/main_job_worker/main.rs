//! The worker process that the tests of the main job drive: each test runs some of its tasks
//! (`TASKLOCK_ONLY`), listens to what they say, and does bad things to the process.

mod database;
mod ends;
mod holders;
mod losers;
mod pool;
mod slots;
mod troubled;

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tasklock_runtime::LeaseContext;
use tasklock_test_support::process::emit;

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

/// The database that the runtime uses.
fn url() -> String {
    std::env::var("TASKLOCK_DATABASE_URL").expect("the test names the database")
}

/// Says something about a run: its task, its lease, the wall clock (the store's, on one machine), and
/// whether and why the lease is lost.
fn say(event: &str, lease: &LeaseContext, more: Value) {
    let lost = lease.check().err().map(|lost| lost.as_str());
    let since_1970 = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("it is later than 1970");
    let mut fields = json!({
        "task": lease.task(),
        "job": lease.job_id(),
        "fence": lease.fence(),
        "owner": lease.owner().as_str(),
        "attempt": lease.attempt(),
        "lost": lost,
        "wall_us": u64::try_from(since_1970.as_micros()).expect("it fits"),
    });
    if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
        fields.extend(more);
    }
    emit(event, fields);
}

/// Nothing more to say.
fn nothing() -> Value {
    Value::Object(Map::new())
}

/// Says `dropped` when the handler's future is dropped before its end.
struct Guard {
    lease: LeaseContext,
    ended: bool,
}

impl Guard {
    fn of(lease: &LeaseContext) -> Self {
        Self {
            lease: lease.clone(),
            ended: false,
        }
    }

    fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.ended {
            say("dropped", &self.lease, nothing());
        }
    }
}
