//! Ended jobs are deleted when their time has come.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tasklock_runtime::Next;
use tasklock_runtime::store::{Counts, Then};
use tokio::sync::Barrier;

use crate::steps::{
    LONG, claim, claim_all, end, enqueue_due, finish, held, job, limited, renewals, renewer,
    started, then,
};
use crate::world::{Sql, World};

pub(crate) async fn only_what_has_been_kept_for_long_enough(world: &World) {
    let store = world.store().await;
    assert_eq!(store.prune(9).await.unwrap(), 0);
    let mut gone = Vec::new();
    let mut stays = Vec::new();
    for end in [
        Then::Done(Some(Duration::ZERO)),
        Then::Dead(Duration::ZERO),
        Then::Cancelled(Duration::ZERO),
    ] {
        let claim = started(&*store, "task", LONG).await;
        finish(&*store, then(&claim.key, end)).await;
        gone.push(claim.key.job);
    }
    for end in [
        Then::Done(Some(LONG)),
        Then::Dead(LONG),
        Then::Cancelled(LONG),
        Then::Done(Some(Duration::MAX)),
    ] {
        let claim = started(&*store, "task", LONG).await;
        finish(&*store, then(&claim.key, end)).await;
        stays.push(claim.key.job);
    }
    // Kept for nothing, but its place is.
    let claim = started(&*store, "task", LONG).await;
    let mut holds = then(&claim.key, Then::Done(None));
    holds.hold = Some(LONG);
    finish(&*store, holds).await;
    stays.push(claim.key.job);
    let cancelled = enqueue_due(&*store, "task", 1).await[0];
    store.cancel(cancelled).await.unwrap();
    stays.push(cancelled);
    stays.push(started(&*store, "runs", LONG).await.key.job);
    stays.extend(enqueue_due(&*store, "waits", 2).await);
    let standing = held(&*store, "standing", LONG).await;
    finish(&*store, end(&standing.key, Next::Dormant)).await;
    stays.push(standing.key.job);

    assert_eq!(store.prune(0).await.unwrap(), 0);
    assert_eq!(store.prune(2).await.unwrap(), 2);
    assert_eq!(store.prune(2).await.unwrap(), 1);
    assert_eq!(store.prune(2).await.unwrap(), 0);
    for id in gone {
        assert!(store.job(id).await.unwrap().is_none());
    }
    for id in stays {
        job(&*store, id).await;
    }
}

pub(crate) async fn nothing_that_waits_or_runs(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = world.sql().await else {
        return;
    };
    let running = started(&*store, "task", LONG).await.key.job;
    let ready = enqueue_due(&*store, "task", 1).await[0];
    let past = past(&sql);
    let set = format!("UPDATE tasklock_job SET prune_at = {past}");
    sql.execute(&set).await;
    assert_eq!(store.prune(9).await.unwrap(), 0);
    for id in [running, ready] {
        job(&*store, id).await;
    }
}

/// A job that is cancelled while it waits for the end of its own hold keeps its place until then.
pub(crate) async fn no_row_that_keeps_a_place(world: &World) {
    let store = world.store().await;
    if world.sql().await.is_none() && world.keys().await.is_none() {
        return;
    }
    let claim = started(&*store, "task", LONG).await;
    let mut again = then(&claim.key, Then::Again(LONG, Counts::Attempt));
    again.hold = Some(Duration::from_secs(7 * 24 * 60 * 60));
    finish(&*store, again).await;
    store.cancel(claim.key.job).await.unwrap();
    let kept = "SELECT count(*) FROM tasklock_job WHERE prune_at >= hold_until";
    if let Some(mut sql) = world.sql().await {
        assert_eq!(sql.number(kept).await, 1);
    }
    if let Some(mut keys) = world.keys().await {
        let prune_at = keys.field(claim.key.job, "prune_at").await;
        assert!(prune_at >= keys.field(claim.key.job, "hold_until").await && prune_at.is_some());
    }
    enqueue_due(&*store, "task", 1).await;
    let batch = store.claim(&limited("task", LONG, 1, 9)).await.unwrap();
    assert_eq!(batch.claims, []);
}

pub(crate) async fn several_delete_each_row_once(world: &World) {
    let store = world.store().await;
    enqueue_due(&*store, "task", 400).await;
    let claims = claim(&*store, &["task"], LONG, 400).await.claims;
    let ends: Vec<_> = (claims.iter())
        .map(|claim| then(&claim.key, Then::Dead(Duration::ZERO)))
        .collect();
    assert_eq!(store.finish(&ends).await.unwrap().len(), 400);
    let waits = enqueue_due(&*store, "task", 1).await[0];
    let start = Arc::new(Barrier::new(4));
    let mut pruning = Vec::new();
    for store in world.stores(4).await {
        let start = Arc::clone(&start);
        pruning.push(tokio::spawn(async move {
            start.wait().await;
            let mut deleted = Vec::new();
            loop {
                let count = store.prune(30).await.unwrap();
                assert!(count <= 30);
                deleted.push(count);
                if count == 0 {
                    return deleted;
                }
            }
        }));
    }
    let mut deleted = 0;
    for pruning in pruning {
        deleted += pruning.await.unwrap().iter().sum::<usize>();
    }
    // Who found the rows of all others locked has ended, and left the rest to them.
    deleted += store.prune(999).await.unwrap();
    assert_eq!(deleted, 400);
    job(&*store, waits).await;
}

/// Side rows of runs that are over go too, in their own time, and no others.
pub(crate) async fn renewals_of_what_is_over_go_too(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = world.sql().await.filter(|_| world.locks_rows()) else {
        return;
    };
    let tasks = ["alive", "expired", "over", "gone"];
    for task in tasks {
        enqueue_due(&*store, task, 1).await;
    }
    let claims = claim_all(&*store, &tasks, LONG).await;
    let id = |task: &str| {
        let claim = claims.iter().find(|claim| claim.task == task);
        claim.unwrap().key.job
    };
    let mut renewer = renewer(&*store).await;
    let renewed = renewer.renew(&renewals(&claims, LONG)).await;
    assert_eq!(renewed.unwrap().len(), 4);
    for (set, id) in [
        (
            "state = 'done', lock_until = NULL, lock_owner = NULL",
            id("over"),
        ),
        ("fence = fence", id("alive")),
    ] {
        sql.execute(&format!("UPDATE tasklock_job SET {set} WHERE id = {id}"))
            .await;
    }
    sql.execute(&format!(
        "DELETE FROM tasklock_job WHERE id = {}",
        id("gone")
    ))
    .await;
    // None has expired yet.
    assert_eq!(store.prune(9).await.unwrap(), 0);
    let left = async |sql: &mut Sql| {
        let query = "SELECT string_agg(job_id::text, ',' ORDER BY job_id) FROM tasklock_heartbeat";
        let left = sql.text(query).await;
        BTreeSet::from_iter(left.split(',').map(|id| id.parse::<i64>().unwrap()))
    };
    assert_eq!(left(&mut sql).await.len(), 4);
    let set = format!(
        "UPDATE tasklock_heartbeat SET lock_until = {} WHERE job_id <> {}",
        past(&sql),
        id("alive")
    );
    sql.execute(&set).await;
    store.prune(1).await.unwrap();
    store.prune(9).await.unwrap();
    // An expired run's own is left to who takes it over.
    let expected = BTreeSet::from([id("alive"), id("expired")]);
    assert_eq!(left(&mut sql).await, expected);
}

fn past(sql: &Sql) -> &'static str {
    match sql {
        Sql::Sqlite(_) | Sql::MySql(_) => "1",
        Sql::Postgres(_) => "'1970-01-02'",
    }
}
