//! The worker program that the fault tests torment. How a run goes is drawn from its job and fence: some are over at once, some outlive
//! several heartbeats, some complete their job themselves, some fail, some panic.

use std::time::Duration;

use tasklock_runtime::{CommitError, LeaseContext, TaskResult, locked_task};

use tasklock_tests::torment::{Run, at, effect, finishing, panicky};

fn main() -> Result<(), tasklock_runtime::Error> {
    tasklock_tests::torment::run()
}

macro_rules! tasks {
    ($on_lost:literal, $work:ident: $($task:ident)*) => {
        $(
            #[locked_task(ttl = "1s", heartbeat = "200ms", margin = "250ms", after = "20ms", on_lost = $on_lost)]
            async fn $task(lease: LeaseContext) -> TaskResult {
                $work(lease).await
            }
        )*
    };
}

tasks! { "abort", polite: a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 }
tasks! { "signal", stubborn: s0 s1 s2 s3 s4 s5 s6 s7 s8 s9 }

/// With a lease that outlives an outage: 12 s less margin, heartbeat and one call are 7.5 s.
#[locked_task(ttl = "12s", heartbeat = "1s", margin = "2s", after = "20ms")]
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
#[locked_task(ttl = "5s", heartbeat = "1s", after = "20ms")]
async fn versioned(lease: LeaseContext) -> TaskResult {
    polite(lease).await
}

/// Checks its lease before each step.
async fn polite(lease: LeaseContext) -> TaskResult {
    let run = Run::begin(&lease);
    let fate = Fate::of(&lease);
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
    let fate = Fate::of(&lease);
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

struct Fate {
    effects: u64,
    pause: u64,
    completes: bool,
    end: u64,
}

impl Fate {
    fn of(lease: &LeaseContext) -> Self {
        // The finalizer of splitmix64 (Steele, Lea, Flood 2014): all bits depend on all bits.
        let mut drawn = lease.job_id().cast_unsigned() << 32 ^ lease.fence().cast_unsigned();
        drawn = drawn.wrapping_add(0x9e37_79b9_7f4a_7c15);
        drawn = (drawn ^ drawn >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        drawn = (drawn ^ drawn >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        drawn ^= drawn >> 31;
        Self {
            effects: [1, 2, 6, 20][usize::try_from(drawn % 4).expect("it fits")],
            pause: 20 + drawn / 4 % 100,
            completes: (drawn / 400).is_multiple_of(5),
            end: drawn / 2_000 % 20,
        }
    }

    fn end(&self) -> TaskResult {
        match self.end {
            _ if panicky() => panic!("as the test wants it"),
            0 => panic!("as it was drawn"),
            1 => Err("as it was drawn".into()),
            _ => Ok(()),
        }
    }
}
