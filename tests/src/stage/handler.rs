//! What handlers say to the test that started their process.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tasklock_runtime::LeaseContext;
use tasklock_test_support::process::emit;

/// The database that the runtime uses.
///
/// # Panics
///
/// If the test does not name it.
pub fn url() -> String {
    std::env::var("TASKLOCK_DATABASE_URL").expect("the test names the database")
}

/// Says something about a run: its task, its lease, the wall clock (the store's, on one machine), and
/// whether and why the lease is lost.
pub fn say(event: &str, lease: &LeaseContext, more: Value) {
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
pub fn nothing() -> Value {
    Value::Object(Map::new())
}

/// Says `dropped` when the handler's future is dropped before its end.
#[derive(Debug)]
pub struct Guard {
    lease: LeaseContext,
    ended: bool,
}

impl Guard {
    /// Of this run.
    pub fn of(lease: &LeaseContext) -> Self {
        Self {
            lease: lease.clone(),
            ended: false,
        }
    }

    /// The handler has ended.
    pub fn end(mut self) {
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
