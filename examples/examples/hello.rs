//! The program of the README: a task that runs every five seconds, on one replica at a time.

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

/// Refreshes the exchange rates: on one replica at a time, every five seconds.
#[locked_task(ttl = "30s", heartbeat = "10s", every = "5s")]
async fn refresh_rates(lease: LeaseContext) -> TaskResult {
    for currency in ["EUR", "USD"] {
        lease.check()?; // Err(LeaseLost) as soon as the lease is lost
        println!("refreshing {currency}, fence {}", lease.fence());
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), tasklock_runtime::Error> {
    tasklock_runtime::run().await
}
