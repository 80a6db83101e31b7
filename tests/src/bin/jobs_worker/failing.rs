//! Jobs that always fail.

use std::error::Error;
use std::fmt;

use tasklock_runtime::{LeaseContext, Payload, TaskResult, locked_task};

/// An error with its cause.
#[derive(Debug)]
pub(crate) struct Because(pub(crate) &'static str, pub(crate) Option<Box<Because>>);

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Because {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_deref().map(|cause| cause as _)
    }
}

fn full() -> Because {
    let cause = |text, cause| Because(text, Some(Box::new(cause)));
    cause("sending", cause("the mailbox", Because("is full", None)))
}

#[locked_task(ttl = "10s", retries = 4, backoff = "200ms..2s")]
async fn fails(_lease: LeaseContext, _number: Payload<i64>) -> TaskResult {
    Err(full())?
}

#[locked_task(ttl = "10s", retries = 0)]
async fn hopeless(_lease: LeaseContext, _number: Payload<i64>) -> TaskResult {
    Err(full())?
}
