//! What an application sees that runs a worker inside one process, on the memory store.

use std::sync::OnceLock;
use std::time::Duration;

use tasklock_runtime::{
    LeaseContext, LeaseLost, Memory, Runtime, TaskResult, Triggered, locked_task,
};

const BOUND: Duration = Duration::from_secs(20);

static OUTLIVES: OnceLock<LeaseContext> = OnceLock::new();

/// Hands its lease to somebody who goes on after it.
#[locked_task(ttl = "60s")]
async fn outlived(lease: LeaseContext) -> TaskResult {
    lease.check()?;
    let _ = OUTLIVES.set(lease);
    Ok(())
}

#[tokio::test]
async fn a_context_that_outlives_its_run_is_lost_before_anybody_else_can_claim() {
    let runtime = Runtime::builder()
        .pool(Memory::new())
        .handle_signals(false)
        .build()
        .await
        .expect("memory needs nothing");
    let (client, shutdown) = (runtime.client(), runtime.shutdown_handle());
    let running = tokio::spawn(runtime.run());
    let bound = tokio::time::timeout(BOUND, async {
        assert_eq!(
            outlived::trigger(&client).await.ok(),
            Some(Triggered::Queued)
        );
        let lease = loop {
            match OUTLIVES.get() {
                Some(lease) => break lease,
                None => tokio::task::yield_now().await,
            }
        };
        // Without the seal this would be the deadline's doing, in 48 s.
        assert_eq!(lease.lost().await, LeaseLost::Released);
        shutdown.shutdown();
    });
    bound.await.expect("within the bound");
    let stopped = running.await.expect("the runtime does not panic");
    assert!(stopped.is_ok());
}
