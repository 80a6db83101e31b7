//! Code by hand, in a process that runs tasks: it takes the names that jobs take as their resource, works under
//! them as handlers do, and gives them back, or drops them.

use std::time::Duration;

use tasklock_runtime::{Client, LeaseGuard};

use super::command::{at, lingering, resting};
use super::effect::effect;
use super::names;
use super::watch::Run;

/// A fifth of it is the margin: no less than that of the tasks.
const TTL: Duration = Duration::from_millis(1_250);
const PATIENCE: Duration = Duration::from_millis(500);

/// Until they shall rest: leases that they have go with the runtime.
pub(crate) async fn work(client: Client) {
    for turn in u64::from(std::process::id()).. {
        if resting() {
            return;
        }
        // The finalizer of splitmix64 (Steele, Lea, Flood 2014): all bits depend on all bits.
        let mut drawn = turn.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        drawn = (drawn ^ drawn >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        drawn ^= drawn >> 27;
        let lease = client.lease(names::name(drawn / 64)).ttl(TTL);
        let acquired = match drawn % 2 {
            0 => lease.try_acquire().await,
            _ => lease.acquire_within(PATIENCE).await,
        };
        if let Ok(Some(held)) = acquired {
            at("held by hand");
            hold(held, drawn).await;
        }
        // Jobs are to have the names most of the time.
        tokio::time::sleep(Duration::from_millis(100 + drawn / 128 % 200)).await;
    }
}

async fn hold(held: LeaseGuard, drawn: u64) {
    let run = Run::begin(&held);
    // Some of them outlive several renewals, and some do not ask.
    let effects = [1, 2, 3, 12][usize::try_from(drawn / 2 % 4).expect("it fits")];
    let asks = (drawn / 8).is_multiple_of(2);
    let completes = (drawn / 16).is_multiple_of(4);
    for number in 1..=effects {
        if asks && held.check().is_err() {
            return;
        }
        let pause = 20 + drawn / 512 % 100 + lingering();
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let completing = completes && number == effects;
        if effect(&held, &run, number, completing).await.is_err() {
            return;
        }
    }
    if (drawn / 32).is_multiple_of(2) {
        held.release().await;
    }
}
