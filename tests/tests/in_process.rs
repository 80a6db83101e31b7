//! What an application sees that runs a worker inside one process.

use std::sync::OnceLock;
use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::sqlite::SqliteConnectOptions;
use tasklock_runtime::{
    CommitError, LeaseContext, LeaseLost, Memory, Runtime, TaskResult, Triggered, locked_task,
};

use tasklock_runtime::store::Store;
use tasklock_test_support::sqlite;
use tasklock_test_support::wait::eventually_async;

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

static POOL: OnceLock<SqlitePool> = OnceLock::new();

/// Makes its effect, ends its job in the same transaction, and fails afterwards.
#[locked_task(ttl = "60s")]
async fn completes(lease: LeaseContext) -> TaskResult {
    let pool = POOL
        .get()
        .ok_or("the pool is set before the task is triggered")?;
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query("INSERT INTO effect VALUES (1)")
        .execute(&mut *tx)
        .await?;
    lease.commit(tx).await?;

    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query("INSERT INTO effect VALUES (2)")
        .execute(&mut *tx)
        .await?;
    lease.complete_in(tx).await?;

    // The lease is over: nothing more can be committed under it.
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query("INSERT INTO effect VALUES (3)")
        .execute(&mut *tx)
        .await?;
    let refused = lease.commit(tx).await;
    assert!(
        matches!(refused, Err(CommitError::Lost(LeaseLost::Released))),
        "{refused:?}"
    );
    Err("too late to matter".into())
}

#[tokio::test]
async fn a_job_that_was_completed_in_a_transaction_is_done_whatever_comes_after() {
    let file = sqlite::file();
    let options = SqliteConnectOptions::new()
        .filename(file.path())
        .create_if_missing(true);
    let pool = SqlitePool::connect_with(options)
        .await
        .expect("the folder can be written");
    sqlx::query("CREATE TABLE effect (x bigint)")
        .execute(&pool)
        .await
        .expect("it is new");
    POOL.set(pool.clone()).expect("it is set once");
    let runtime = Runtime::builder()
        .pool(pool.clone())
        .only(["completes"])
        .handle_signals(false)
        .build()
        .await
        .expect("the file can be written");
    let (client, shutdown) = (runtime.client(), runtime.shutdown_handle());
    let running = tokio::spawn(runtime.run());
    assert_eq!(
        completes::trigger(&client).await.ok(),
        Some(Triggered::Queued)
    );
    let ended = async || {
        let row = "SELECT last_outcome, last_error FROM tasklock_job \
            WHERE task = 'completes' AND finished_at IS NOT NULL";
        let row: Option<(String, Option<String>)> = sqlx::query_as(row)
            .fetch_optional(&pool)
            .await
            .expect("the table is there");
        row
    };
    assert_eq!(
        eventually_async(BOUND, ended).await,
        ("succeeded".into(), None)
    );
    shutdown.shutdown();
    assert!(running.await.expect("the runtime does not panic").is_ok());
    let effects: Vec<i64> = sqlx::query_scalar("SELECT x FROM effect ORDER BY x")
        .fetch_all(&pool)
        .await
        .expect("it is there");
    assert_eq!(effects, [1, 2]);
    assert_eq!(
        ended().await,
        Some(("succeeded".into(), None)),
        "what came after changed nothing"
    );
}

/// Never waits for anything: it uses up its task's budget in every poll.
#[locked_task(ttl = "60s", timeout = "200ms")]
async fn never_waits(_lease: LeaseContext) {
    loop {
        tokio::task::consume_budget().await;
    }
}

#[tokio::test]
async fn a_handler_that_never_waits_is_timed_out_all_the_same() {
    let store = Memory::new();
    let runtime = Runtime::builder()
        .pool(store.clone())
        .only(["never_waits"])
        .handle_signals(false)
        .build()
        .await
        .expect("memory needs nothing");
    let (client, shutdown) = (runtime.client(), runtime.shutdown_handle());
    let running = tokio::spawn(runtime.run());
    let triggered = never_waits::trigger(&client).await;
    assert_eq!(triggered.ok(), Some(Triggered::Queued));
    let ended = async || {
        let row = store.standing("never_waits").await.ok()??;
        row.last_outcome
    };
    assert_eq!(eventually_async(BOUND, ended).await, "timed_out");
    shutdown.shutdown();
    assert!(running.await.expect("the runtime does not panic").is_ok());
}
