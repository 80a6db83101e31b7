//! Tasks that run on demand, whose jobs need one of a few names. What the tests' `policy` says of retries and crashes
//! is what stands here.

use std::fmt;

use tasklock_runtime::{CommitError, LeaseContext, Payload, TaskResult, locked_task};
use tasklock_tests::torment::{Run, at, effect, names};

use crate::fate::Fate;
use crate::ordered::write;
use crate::pause;

/// The number under which a job was ordered; as text it is the name that the job needs.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Shared(u64);

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&names::name(self.0))
    }
}

/// Checks its leases before each step.
#[locked_task(
    ttl = "1s",
    heartbeat = "200ms",
    margin = "250ms",
    resource = "{}",
    retries = 1000,
    backoff = "100ms..100ms",
    max_crashes = 1000
)]
async fn shares(lease: LeaseContext, order: Payload<Shared>) -> TaskResult {
    let run = Run::begin(&lease);
    let fate = Fate::of(&lease, order.0.0);
    write(&lease, &run, &fate, fate.effects.min(6)).await?;
    fate.end()
}

/// Never checks, and goes on when it is told of the loss: the guard is all that stops it.
#[locked_task(
    ttl = "1s",
    heartbeat = "200ms",
    margin = "250ms",
    resource = "{}",
    retries = 1000,
    backoff = "100ms..100ms",
    max_crashes = 1000,
    on_lost = "signal"
)]
async fn pushes(lease: LeaseContext, order: Payload<Shared>) -> TaskResult {
    let run = Run::begin(&lease);
    let fate = Fate::of(&lease, order.0.0);
    let mut refused = 0;
    for number in 1..=fate.effects.min(6) {
        pause(fate.pause).await;
        match effect(&lease, &run, number, false).await {
            Err(CommitError::Lost(_)) if refused < 3 => refused += 1,
            Err(error) => return Err(error.into()),
            Ok(true) => {}
            Ok(false) => return Err("it is not known whether it was committed".into()),
        }
    }
    at("mid-run");
    if refused > 0 {
        return Err("it was not written".into());
    }
    fate.end()
}
