//! Jobs that hold their lease.

use std::time::Duration;

use tasklock_runtime::{LeaseContext, Payload, State, TaskResult, locked_task};
use tasklock_tests::stage::Guard;

use crate::application::Application;
use crate::say_start;

/// Never ends by itself, whatever it is told.
#[locked_task(ttl = "30s")]
async fn ignores(lease: LeaseContext, _number: Payload<i64>) {
    let _guard = Guard::of(&lease);
    say_start(&lease);
    std::future::pending().await
}

/// The same with frequent heartbeats.
#[locked_task(ttl = "3s", heartbeat = "500ms")]
async fn holds(lease: LeaseContext, _number: Payload<i64>) {
    let _guard = Guard::of(&lease);
    say_start(&lease);
    std::future::pending().await
}

/// Fails when there is a row in the table `cue`, long before a heartbeat.
#[locked_task(ttl = "5m")]
async fn fails_on_cue(
    lease: LeaseContext,
    _number: Payload<i64>,
    application: State<Application>,
) -> TaskResult {
    say_start(&lease);
    while application.count("cue").await? == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Err("as it was told")?
}
