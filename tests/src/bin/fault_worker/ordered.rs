//! Tasks that run on demand. A job carries the number under which the test has ordered it. What the tests'
//! `policy` says of retries, crashes and concurrency is what stands here.

use std::time::Duration;

use tasklock_runtime::{
    Discard, LeaseContext, Payload, RetryAfter, Snooze, TaskResult, locked_task,
};
use tasklock_tests::torment::{Run, at, effect, lingering};

use crate::fate::Fate;
use crate::pause;

const SOON: Duration = Duration::from_millis(100);

/// Ends in the transaction of its one effect, or not at all. A part of its runs fails before that.
#[locked_task(
    ttl = "1s",
    heartbeat = "200ms",
    margin = "250ms",
    retries = 1000,
    backoff = "100ms..100ms",
    max_crashes = 1000,
    keep = "1s"
)]
async fn ships(lease: LeaseContext, order: Payload<u64>) -> TaskResult {
    let run = Run::begin(&lease);
    let fate = Fate::of(&lease, *order);
    pause(fate.pause * fate.effects.min(6)).await;
    if fate.end < 3 {
        fate.end()?;
        return Err(Snooze::new(SOON).into());
    }
    known(effect(&lease, &run, 1, true).await?)?;
    at("mid-run");
    // The job has ended: whatever comes now is not recorded.
    if fate.end < 6 {
        Err("after its end".into())
    } else {
        fate.end()
    }
}

/// Commits an effect, and then succeeds, fails, waits or gives up, few times.
#[locked_task(
    ttl = "1s",
    heartbeat = "200ms",
    margin = "250ms",
    retries = 2,
    backoff = "100ms..200ms",
    max_crashes = 3
)]
async fn tries(lease: LeaseContext, order: Payload<u64>) -> TaskResult {
    let run = Run::begin(&lease);
    let fate = Fate::of(&lease, *order);
    write(&lease, &run, &fate, 1).await?;
    match fate.end {
        2 | 3 => Err(Snooze::new(SOON).into()),
        4 => Err(Discard::new("as it was drawn").into()),
        5 => Err(RetryAfter::new(SOON, "as it was drawn").into()),
        6..13 => Err("as it was drawn".into()),
        _ => fate.end(),
    }
}

/// Two at once, in the whole fleet.
#[locked_task(
    ttl = "1s",
    heartbeat = "200ms",
    margin = "250ms",
    concurrency = 2,
    retries = 1000,
    backoff = "100ms..100ms",
    max_crashes = 1000,
    on_lost = "signal"
)]
async fn pair(lease: LeaseContext, order: Payload<u64>) -> TaskResult {
    let run = Run::begin(&lease);
    let fate = Fate::of(&lease, *order);
    write(&lease, &run, &fate, fate.effects.min(6)).await?;
    fate.end()
}

/// Nothing is kept of it: its end deletes it.
#[locked_task(
    ttl = "1s",
    heartbeat = "200ms",
    margin = "250ms",
    retries = 1000,
    backoff = "100ms..100ms",
    max_crashes = 1000,
    keep = "none"
)]
async fn gone(lease: LeaseContext, order: Payload<u64>) -> TaskResult {
    let run = Run::begin(&lease);
    let fate = Fate::of(&lease, *order);
    write(&lease, &run, &fate, fate.effects).await?;
    fate.end()
}

/// So many effects, the last of which may complete the job.
pub(crate) async fn write(
    lease: &LeaseContext,
    run: &Run,
    fate: &Fate,
    effects: u64,
) -> TaskResult {
    for number in 1..=effects {
        lease.check()?;
        pause(fate.pause).await;
        let completing = fate.completes && number == effects;
        known(effect(lease, run, number, completing).await?)?;
    }
    at("mid-run");
    pause(lingering()).await;
    Ok(())
}

/// A run whose effect may not be there does not succeed.
fn known(committed: bool) -> TaskResult {
    if committed {
        Ok(())
    } else {
        Err("it is not known whether it was committed".into())
    }
}
