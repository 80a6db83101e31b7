//! Handlers that lose their lease, one for each `on_lost`, and one that renews it itself.

use std::time::Duration;

use serde_json::json;
use sqlx::Connection;
use tasklock_runtime::{LeaseContext, RenewError, TaskResult, locked_task};

use crate::database::Database;
use crate::{Guard, nothing, say, url};

#[locked_task(ttl = "2s", after = "100ms", on_lost = "abort")]
async fn abort(lease: LeaseContext) {
    let _guard = Guard::of(&lease);
    say("start", &lease, nothing());
    std::future::pending().await
}

#[locked_task(ttl = "2s", after = "100ms", on_lost = "signal")]
async fn signal(lease: LeaseContext) {
    let guard = Guard::of(&lease);
    say("start", &lease, nothing());
    lease.lost().await;
    say("lost", &lease, nothing());
    // It cleans up in its own time.
    tokio::time::sleep(Duration::from_millis(300)).await;
    say("end", &lease, nothing());
    guard.end();
}

#[locked_task(ttl = "2s", after = "100ms", on_lost = "exit")]
async fn exit(lease: LeaseContext) {
    say("start", &lease, nothing());
    std::future::pending().await
}

/// Completes its job itself, and goes on for longer than the heartbeat leaves a lease unlooked at.
#[locked_task(ttl = "2s", after = "1h", on_lost = "exit")]
async fn exit_completed(lease: LeaseContext) -> TaskResult {
    say("start", &lease, nothing());
    match Database::connect(&url()).await? {
        Database::Postgres(mut connection) => lease.complete_in(connection.begin().await?).await?,
        Database::MySql(mut connection) => lease.complete_in(connection.begin().await?).await?,
        Database::Sqlite(mut connection) => {
            let tx = connection.begin_with("BEGIN IMMEDIATE").await?;
            lease.complete_in(tx).await?;
        }
        Database::Redis(_) => return Err("Redis has no transactions".into()),
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    say("end", &lease, nothing());
    Ok(())
}

/// Asks for a renewal again and again, until it is refused.
#[locked_task(ttl = "3s", after = "1h", on_lost = "signal")]
async fn renew(lease: LeaseContext) {
    say("start", &lease, nothing());
    loop {
        let renewed = lease.renew().await;
        let answer = match &renewed {
            Ok(()) => "confirmed",
            Err(RenewError::Lost(lost)) => lost.as_str(),
            Err(_) => "unconfirmed",
        };
        let left = u64::try_from(lease.remaining().as_millis()).expect("it fits");
        say(
            "renew",
            &lease,
            json!({ "answer": answer, "left_ms": left }),
        );
        if matches!(renewed, Err(RenewError::Lost(_))) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
