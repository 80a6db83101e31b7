//! A worker with a thousand tasks that hold their leases until it is asked to stop, and fifty that are
//! not due for a day. `TASKLOCK_ONLY` says which.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tasklock_runtime::__private::{
    Definition, Location, Registration, RunFuture, RunParts, inventory,
};
use tasklock_runtime::Outcome;
use tasklock_test_support::process::emit;

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;

/// Held leases; tells when there are a thousand.
static HELD: AtomicUsize = AtomicUsize::new(0);

#[tokio::main]
async fn main() -> Result<(), tasklock_runtime::Error> {
    tasklock_runtime::run().await
}

fn hold(run: RunParts) -> RunFuture {
    let lease = run.lease().clone();
    Box::pin(async move {
        if HELD.fetch_add(1, Ordering::SeqCst) + 1 == 1_000 {
            emit("all", json!({}));
        }
        tokio::select! {
            lost = lease.lost() => emit("lost", json!({"task": lease.task(), "why": lost.as_str()})),
            () = lease.shutdown() => {}
        }
        Outcome::Succeeded
    })
}

fn idle(run: RunParts) -> RunFuture {
    let lease = run.lease().clone();
    Box::pin(async move {
        emit("start", json!({"task": lease.task()}));
        Outcome::Succeeded
    })
}

const fn held(name: &'static str) -> Definition {
    Definition::new(name)
        .after_nanos(DAY)
        .ttl_nanos(6 * SECOND)
        .heartbeat_nanos(2 * SECOND)
}

macro_rules! register {
    ($definition:expr, $run:ident) => {
        inventory::submit! {
            Registration::new(
                $definition,
                Location::new(module_path!(), file!(), line!()),
                $run,
                |_| {},
            )
        }
    };
}

macro_rules! hundreds {
    ($($a:literal)*) => { $(tens!($a; 0 1 2 3 4 5 6 7 8 9);)* };
}
macro_rules! tens {
    ($a:literal; $($b:literal)*) => { $(ones!($a, $b; 0 1 2 3 4 5 6 7 8 9);)* };
}
macro_rules! ones {
    ($a:literal, $b:literal; $($c:literal)*) => {
        $(register!(held(concat!("held_", $a, $b, $c)), hold);)*
    };
}
macro_rules! idle_tens {
    ($($a:literal)*) => { $(idle_ones!($a; 0 1 2 3 4 5 6 7 8 9);)* };
}
macro_rules! idle_ones {
    ($a:literal; $($b:literal)*) => {
        $(register!(Definition::new(concat!("idle_", $a, $b)).every_nanos(DAY), idle);)*
    };
}

hundreds!(0 1 2 3 4 5 6 7 8 9);
idle_tens!(0 1 2 3 4);
