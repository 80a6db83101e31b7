//! Unique keys: at most one job of a task with a key waits or runs.

mod storm;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tasklock_runtime::Next;
use tasklock_runtime::store::{Counts, Enqueued, Then};
use tokio::sync::Barrier;

use crate::steps::{
    LONG, at_once, claim_one, declare_due, end, enqueue, finish, new, then, with_key,
};
use crate::world::{Sql, World};

pub(crate) async fn a_key_is_taken_while_its_job_waits_or_runs(world: &World) {
    let store = world.store().await;
    let mut last = 0;
    for over in [
        Then::Done(Some(LONG)),
        Then::Done(None),
        Then::Dead(LONG),
        Then::Cancelled(LONG),
    ] {
        let job = || with_key("task", "key");
        let Enqueued::New(id) = enqueue(&*store, job()).await else {
            panic!("the key is free");
        };
        assert!(id > last);
        last = id;
        let taken = async || assert_eq!(enqueue(&*store, job()).await, Enqueued::Existing(id));
        taken().await;
        let claim = claim_one(&*store, "task", LONG).await;
        taken().await;
        store.release(&[claim.key]).await.unwrap();
        taken().await;
        let claim = claim_one(&*store, "task", LONG).await;
        finish(
            &*store,
            then(&claim.key, Then::Again(Duration::ZERO, Counts::Attempt)),
        )
        .await;
        taken().await;
        let claim = claim_one(&*store, "task", LONG).await;
        assert_eq!(claim.key.job, id);
        finish(&*store, then(&claim.key, over)).await;
    }
    enqueue(&*store, with_key("task", "key")).await;
    let cancelled = enqueue(&*store, with_key("task", "key")).await.id();
    store.cancel(cancelled).await.unwrap();
    assert!(enqueue(&*store, with_key("task", "key")).await.is_new());
}

pub(crate) async fn a_key_is_its_tasks_own(world: &World) {
    let store = world.store().await;
    declare_due(&*store, &["one"]).await;
    for task in ["one", "two"] {
        for key in ["key", "KEY", "key ", "kéy", "ke\u{301}y", "key\u{feff}"] {
            assert!(
                enqueue(&*store, with_key(task, key)).await.is_new(),
                "{key}"
            );
        }
        assert!(enqueue(&*store, new(task)).await.is_new());
        assert!(enqueue(&*store, new(task)).await.is_new());
    }
    // The standing job's key is one that no other job can have.
    let claim = claim_one(&*store, "one", LONG).await;
    assert!(claim.standing);
    finish(&*store, end(&claim.key, Next::at(1))).await;
    assert!(claim_one(&*store, "one", LONG).await.standing);
}

pub(crate) async fn one_key_many_times_in_one_call(world: &World) {
    let store = world.store().await;
    let existing = enqueue(&*store, with_key("task", "there")).await.id();
    // Each key in two statements, as they are.
    let mut jobs: Vec<_> = (0..1_500)
        .map(|nth| with_key("task", format!("{:03}", nth % 700)))
        .collect();
    jobs.insert(800, with_key("task", "there"));
    let mut told: BTreeMap<_, BTreeSet<i64>> = BTreeMap::new();
    let mut new = 0;
    for (job, enqueued) in jobs.iter().zip(store.enqueue(&jobs).await.unwrap()) {
        let ids = told.entry(&job.unique_key).or_default();
        new += usize::from(enqueued.is_new());
        assert_eq!(
            enqueued.is_new(),
            ids.is_empty() && enqueued.id() != existing
        );
        ids.insert(enqueued.id());
    }
    assert_eq!((new, told.len()), (700, 701));
    assert!(told.values().all(|ids| ids.len() == 1), "{told:?}");
}

pub(crate) async fn sixteen_enqueue_ten_keys(world: &World) {
    let start = Arc::new(Barrier::new(16));
    let mut enqueuing = Vec::new();
    for (nth, store) in world.stores(16).await.into_iter().enumerate() {
        let start = Arc::clone(&start);
        enqueuing.push(tokio::spawn(async move {
            start.wait().await;
            let mut told = Vec::new();
            for key in 0..10 {
                let key = (key + nth) % 10;
                let enqueued = enqueue(&*store, with_key("task", key.to_string())).await;
                told.push((key, enqueued));
            }
            told
        }));
    }
    let mut ids: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
    let mut new = 0;
    for enqueued in enqueuing {
        for (key, enqueued) in enqueued.await.unwrap() {
            ids.entry(key).or_default().insert(enqueued.id());
            new += usize::from(enqueued.is_new());
        }
    }
    assert_eq!((ids.len(), new), (10, 10));
    assert!(ids.values().all(|ids| ids.len() == 1), "{ids:?}");
    let store = world.store().await;
    let mut claimed = BTreeSet::new();
    for _ in 0..10 {
        claimed.insert(claim_one(&*store, "task", LONG).await.key.job);
    }
    assert_eq!(claimed, ids.into_values().flatten().collect());
}

pub(crate) use storm::one_job_of_a_key_at_any_instant;

/// Keys in opposite orders, while a third one has the key in the middle: neither waits for the other.
pub(crate) async fn opposite_orders_do_not_wait_in_a_circle(world: &World) {
    let stores = world.stores(2).await;
    let Some(mut sql) = world.sql().await.filter(|_| world.locks_rows()) else {
        return;
    };
    sql.execute("BEGIN").await;
    sql.execute("INSERT INTO tasklock_job (task, unique_key, due_at) VALUES ('task', '5', now())")
        .await;
    let keys = || (0..10).map(|key| with_key("task", key.to_string()));
    let orders = [keys().collect::<Vec<_>>(), keys().rev().collect()];
    let mut enqueuing = Vec::new();
    for (store, jobs) in stores.into_iter().zip(orders) {
        enqueuing.push(tokio::spawn(
            async move { store.enqueue(&jobs).await.unwrap() },
        ));
    }
    // In a circle they would be when this one lets go.
    world.waiting(&mut sql, 2).await;
    sql.execute("ROLLBACK").await;
    let mut new = 0;
    for enqueued in enqueuing {
        // A deadlock is found after a second, and tried again.
        let enqueued = at_once(enqueued).await.unwrap();
        new += enqueued.iter().filter(|job| job.is_new()).count();
    }
    assert_eq!(new, 10);
    if matches!(sql, Sql::MySql(_)) {
        // It counts none of them for one database.
        return;
    }
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(sql.number(deadlocks).await, 0);
}
