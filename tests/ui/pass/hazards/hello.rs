//! The program of the README, without its main.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

/// Refreshes the exchange rates: on one replica at a time, every five seconds.
#[locked_task(ttl = "30s", heartbeat = "10s", every = "5s")]
async fn refresh_rates(lease: LeaseContext) -> TaskResult {
    for currency in ["EUR", "USD"] {
        lease.check()?;
        println!("refreshing {currency}, fence {}", lease.fence());
    }
    Ok(())
}

fn main() {}
