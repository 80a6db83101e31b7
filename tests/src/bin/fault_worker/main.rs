//! The worker program that the fault tests torment. How a run goes is drawn from its job and fence: some are over at once, some outlive
//! several heartbeats, some complete their job themselves, some fail, some panic. `ordered` has the tasks that
//! run on demand, `shared` those of them whose jobs need a name.
//!
//! Standing tasks are killed as often as a scenario likes: no slot of theirs ends as poison.

mod fate;
mod ordered;
mod shared;

use std::time::Duration;

use tasklock_runtime::{CommitError, LeaseContext, TaskResult, locked_task};

use tasklock_tests::torment::{Run, at, effect, finishing};

use fate::Fate;

fn main() -> Result<(), tasklock_runtime::Error> {
    tasklock_tests::torment::run()
}

macro_rules! tasks {
    ($on_lost:literal, $work:ident: $($task:ident)*) => {
        $(
            #[locked_task(ttl = "1s", heartbeat = "200ms", margin = "250ms", after = "20ms", max_crashes = 1000, on_lost = $on_lost)]
            async fn $task(lease: LeaseContext) -> TaskResult {
                $work(lease).await
            }
        )*
    };
}

tasks! { "abort", polite: a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 }
tasks! { "signal", stubborn: s0 s1 s2 s3 s4 s5 s6 s7 s8 s9 }

/// With a lease that outlives an outage: 12 s less margin, heartbeat and one call are 7.5 s.
#[locked_task(
    ttl = "12s",
    heartbeat = "1s",
    margin = "2s",
    after = "20ms",
    max_crashes = 1000
)]
async fn lasting(lease: LeaseContext) -> TaskResult {
    let run = Run::begin(&lease);
    let mut number = 0;
    while !lease.is_shutting_down() && !finishing() {
        pause(50).await;
        number += 1;
        effect(&lease, &run, number, false).await?;
    }
    Ok(())
}

/// A task that another version of the program has with a ttl of 60 s.
#[locked_task(ttl = "5s", heartbeat = "1s", after = "20ms", max_crashes = 1000)]
async fn versioned(lease: LeaseContext) -> TaskResult {
    polite(lease).await
}

/// Checks its lease before each step.
async fn polite(lease: LeaseContext) -> TaskResult {
    let run = Run::begin(&lease);
    let fate = Fate::of(&lease, 0);
    for number in 1..=fate.effects {
        lease.check()?;
        pause(fate.pause).await;
        let completing = fate.completes && number == fate.effects;
        effect(&lease, &run, number, completing).await?;
    }
    at("mid-run");
    fate.end()
}

/// Never checks, and goes on when it is told of the loss: the guard is all that stops it.
async fn stubborn(lease: LeaseContext) -> TaskResult {
    let run = Run::begin(&lease);
    let fate = Fate::of(&lease, 0);
    let mut refused = 0;
    for number in 1..=fate.effects {
        pause(fate.pause).await;
        let completing = fate.completes && number == fate.effects;
        match effect(&lease, &run, number, completing).await {
            Err(CommitError::Lost(_)) if refused < 3 => refused += 1,
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
    }
    at("mid-run");
    fate.end()
}

async fn pause(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}
