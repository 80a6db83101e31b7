//! Handlers that end badly, at each of their slots.

use std::time::Duration;

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

use crate::{Guard, nothing, say};

#[locked_task(ttl = "10s", every = "200ms")]
async fn fail(lease: LeaseContext) -> TaskResult {
    say("start", &lease, nothing());
    "seven"
        .parse::<u32>()
        .map_err(|error| format!("the page number is wrong: {error}"))?;
    Ok(())
}

#[locked_task(ttl = "10s", every = "200ms")]
async fn panic(lease: LeaseContext) {
    say("start", &lease, nothing());
    panic!("the drawer is stuck");
}

#[locked_task(ttl = "10s", every = "200ms", timeout = "100ms")]
async fn overrun(lease: LeaseContext) {
    let _guard = Guard::of(&lease);
    say("start", &lease, nothing());
    tokio::time::sleep(Duration::from_secs(600)).await;
}
