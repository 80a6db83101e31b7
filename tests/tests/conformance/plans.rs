//! What a call reads, where many jobs wait: a number of rows that does not grow with them.
//!
//! On Postgres and MariaDB it is counted by the server itself, for this world's table alone, whichever plan it chose: before it
//! has statistics of the table, and after. MariaDB has a server of its own for that, for some of its counts are of all tables.

mod beside;
mod meter;

use std::collections::BTreeMap;
use std::slice::from_ref;
use std::time::{Duration, Instant};

use tasklock_runtime::Next;
use tasklock_runtime::store::{Counts, Then};

use crate::steps::{
    LONG, claim, end, enqueue, finish, limited, renewals, renewer, standing, task, then, with_key,
};
use crate::world::World;
use meter::Meter;

const WAITING: i64 = 200_000;
/// More than it takes for a plan that serves any parameters. What is allowed to be read is far less than waits, and some
/// times what is read: index entries of rows that have been changed since are read too, as long as any transaction on the
/// server is older.
const CALLS: i64 = 12;
const LIMIT: usize = 16;

pub(crate) async fn no_call_reads_more_where_more_jobs_wait(world: &World) {
    let Some(mut meter) = Meter::of(world).await else {
        return;
    };
    let store = meter.world().store().await;
    store.declare(&[task("standing", None)]).await.unwrap();
    meter.fill(WAITING).await;
    for analyzed in [false, true] {
        if analyzed {
            meter.analyze().await;
        }
        let rows = CALLS * i64::try_from(LIMIT).unwrap();
        meter
            .reads_at_most("claims", 100 * rows, async |store| {
                for _ in 0..CALLS {
                    let batch = claim(store, &["task", "other", "standing"], LONG, LIMIT).await;
                    assert_eq!(batch.claims.len(), LIMIT);
                    let ends: Vec<_> = (batch.claims.iter())
                        .map(|claim| then(&claim.key, Then::Done(Some(LONG))))
                        .collect();
                    assert_eq!(store.finish(&ends).await.unwrap().len(), LIMIT);
                }
            })
            .await;
        meter
            .reads_at_most("limited claims", 100 * rows, async |store| {
                for _ in 0..CALLS {
                    let request = limited("task", LONG, 10, LIMIT);
                    let batch = store.claim(&request).await.unwrap();
                    assert_eq!(batch.claims.len(), 10);
                    let mut renewer = renewer(store).await;
                    let renewed = renewer.renew(&renewals(&batch.claims, LONG)).await;
                    assert_eq!(renewed.unwrap().len(), 10);
                    let keys: Vec<_> = batch.claims.into_iter().map(|claim| claim.key).collect();
                    assert_eq!(store.release(&keys).await.unwrap().len(), 10);
                }
            })
            .await;
        // Nothing is due, and the next event is far.
        meter
            .reads_at_most("idle claims", 10 * CALLS, async |store| {
                for _ in 0..CALLS {
                    claim(store, &["other", "standing", "ended"], LONG, LIMIT).await;
                }
            })
            .await;
        meter
            .reads_at_most("enqueueing", 20 * CALLS, async |store| {
                for nth in 1..=CALLS {
                    // Taken, or new.
                    let key = if nth % 2 == 0 { nth * 20 } else { -nth };
                    let job = enqueue(store, with_key("task", key.to_string())).await;
                    store.cancel(job.id()).await.unwrap();
                    store.retry(job.id()).await.unwrap();
                    store.job(job.id()).await.unwrap();
                }
            })
            .await;
        meter
            .reads_at_most("a standing job", 1_000 * CALLS, async |store| {
                for nth in 0..CALLS {
                    let mut declared = task("standing", None);
                    declared.schedule = format!("{analyzed} {nth}");
                    store.declare(from_ref(&declared)).await.unwrap();
                    let new = task(&format!("{analyzed} {nth}"), None);
                    store.declare(&[new]).await.unwrap();
                    store.trigger("standing").await.unwrap();
                    standing(store, "standing").await;
                    let batch = claim(store, &["standing"], LONG, 1).await;
                    let again = Then::Again(Duration::ZERO, Counts::Attempt);
                    finish(store, then(&batch.claims[0].key, again)).await;
                    let batch = claim(store, &["standing"], LONG, 1).await;
                    finish(store, end(&batch.claims[0].key, Next::Dormant)).await;
                }
            })
            .await;
        meter
            .reads_at_most("pruning", CALLS, async |store| {
                for _ in 0..CALLS {
                    assert_eq!(store.prune(100).await.unwrap(), 0);
                }
            })
            .await;
        if meter.is_mysql() {
            beside::reads_no_more(&mut meter, analyzed).await;
        }
    }
}

/// SQLite counts nothing. It reads through some hundred thousand rows in no less than ten milliseconds; the fastest
/// of many calls tells whether it has, however busy the machine is.
pub(crate) async fn no_call_takes_longer_where_more_jobs_wait(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = (world.sql().await).filter(|_| !world.locks_rows()) else {
        return;
    };
    store.declare(&[task("standing", None)]).await.unwrap();
    let now = "unixepoch() * 1000000";
    sql.execute(&format!(
        "INSERT INTO tasklock_job (task, priority, due_at, unique_key, state, prune_at, created_at)
         WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {WAITING})
         SELECT 'task', n % 3 * 10 - 10,
             {now} + CASE n % 2 WHEN 0 THEN -1 ELSE 1 END * (3600 + n) * 1000000,
             CASE n % 10 WHEN 0 THEN CAST(n AS TEXT) END,
             CASE n % 4 WHEN 3 THEN 'done' ELSE 'ready' END,
             CASE n % 4 WHEN 3 THEN {now} + 3600000000 END, {now}
         FROM s"
    ))
    .await;
    let mut fastest: BTreeMap<&str, Duration> = BTreeMap::new();
    for nth in 0..CALLS {
        let mut began = Instant::now();
        let mut took = |what| {
            let least = fastest.entry(what).or_insert(Duration::MAX);
            *least = began.elapsed().min(*least);
            began = Instant::now();
        };
        let batch = claim(&*store, &["task", "other", "standing"], LONG, LIMIT).await;
        took("claim");
        let keys: Vec<_> = batch.claims.iter().map(|claim| claim.key.clone()).collect();
        assert_eq!(store.release(&keys).await.unwrap().len(), LIMIT);
        took("release");
        let batch = store
            .claim(&limited("task", LONG, 10, LIMIT))
            .await
            .unwrap();
        took("limited claim");
        let ends: Vec<_> = (batch.claims.iter())
            .map(|claim| then(&claim.key, Then::Done(Some(LONG))))
            .collect();
        assert_eq!(store.finish(&ends).await.unwrap().len(), 10);
        took("finish");
        claim(&*store, &["other", "standing"], LONG, LIMIT).await;
        took("idle claim");
        let key = if nth % 2 == 0 { (nth + 1) * 20 } else { -nth };
        let job = enqueue(&*store, with_key("task", key.to_string())).await;
        took("enqueue");
        store.cancel(job.id()).await.unwrap();
        took("cancel");
        store.retry(job.id()).await.unwrap();
        took("retry");
        let mut declared = task("standing", None);
        declared.schedule = nth.to_string();
        store.declare(&[declared]).await.unwrap();
        took("declare");
        store.trigger("standing").await.unwrap();
        took("trigger");
        standing(&*store, "standing").await;
        took("standing");
        let batch = claim(&*store, &["standing"], LONG, 1).await;
        finish(&*store, end(&batch.claims[0].key, Next::Dormant)).await;
        took("claim and finish one");
        assert_eq!(store.prune(10).await.unwrap(), 0);
        took("prune");
    }
    let slow = fastest
        .values()
        .filter(|took| **took >= Duration::from_millis(10));
    assert_eq!(slow.count(), 0, "{fastest:?}");
}
