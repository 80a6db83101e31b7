//! Rows that somebody else's transaction has locked, for as long as it likes.

use tasklock_runtime::{Next, StoreErrorKind, Triggered};
use tasklock_test_support::wait::eventually_async;

use crate::steps::{
    BOUND, LONG, SHORT, at_once, claim, claim_all, declare_many, end, expired, held, jobs, renewal,
    renewals, renewer, row, sorted,
};
use crate::world::World;

/// Where rows can be locked, the others are renewed meanwhile; where only the whole database can, the
/// heartbeat is told so.
pub(crate) async fn a_renewal_does_not_wait_for_a_lock(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 3).await;
    let claims = claim_all(&*store, &tasks, LONG).await;
    let mut renewer = renewer(&*store).await;
    let batch = renewals(&claims, 10 * LONG);
    let Some(lock) = world.lock(claims[1].key.job, "FOR UPDATE").await else {
        return;
    };
    let answer = at_once(renewer.renew(&batch)).await;
    if lock.rows_only {
        let others = sorted(vec![claims[0].key.job, claims[2].key.job]);
        assert_eq!(answer.map(sorted).unwrap(), others);
    } else {
        let error = answer.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Busy, "{error}");
    }
    // It is not lost: the row can be read, and renewed afterwards.
    let rows = at_once(renewer.inspect(&[claims[1].key.job]))
        .await
        .unwrap();
    assert!(rows[0].is_held_under(&claims[1].key), "{rows:?}");
    lock.release().await;
    assert_eq!(sorted(renewer.renew(&batch).await.unwrap()), jobs(&claims));
}

pub(crate) async fn a_renewal_passes_a_guard(world: &World) {
    let store = world.store().await;
    let held = held(&*store, "task", LONG).await;
    let mut renewer = renewer(&*store).await;
    let Some(guard) = world.guard(held.key.job).await else {
        return;
    };
    for _ in 0..2 {
        let renewed = at_once(renewer.renew(&[renewal(&held.key, LONG)])).await;
        assert_eq!(renewed.unwrap(), [held.key.job]);
    }
    guard.release().await;
}

pub(crate) async fn an_end_skips_a_guarded_row(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 5).await;
    let claims = claim_all(&*store, &tasks, LONG).await;
    let keys: Vec<_> = claims.iter().map(|claim| claim.key.clone()).collect();
    let Some(guard) = world.guard(keys[0].job).await else {
        return;
    };
    let ends: Vec<_> = keys[..3]
        .iter()
        .map(|key| end(key, Next::Dormant))
        .collect();
    let finished = at_once(store.finish(&ends)).await.unwrap();
    assert_eq!(sorted(finished), jobs(&claims[1..3]));
    let released = [keys[0].clone(), keys[3].clone()];
    assert_eq!(
        at_once(store.release(&released)).await.unwrap(),
        [keys[3].job]
    );
    let mut renewer = renewer(&*store).await;
    assert_eq!(
        at_once(renewer.release(&keys)).await.unwrap(),
        [keys[4].job]
    );
    assert_eq!(at_once(store.abandon(&keys[0].owner)).await.unwrap(), 0);
    assert!(row(&*store, keys[0].job).await.is_held_under(&keys[0]));
    guard.release().await;
    assert_eq!(store.finish(&ends).await.unwrap(), [keys[0].job]);
}

pub(crate) async fn a_takeover_skips_a_guarded_row(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 3).await;
    let crashed = claim_all(&*store, &tasks, SHORT).await;
    let guarded = crashed[0].key.job;
    let Some(guard) = world.guard(guarded).await else {
        return;
    };
    expired(&*store, guarded).await;
    let mut taken = Vec::new();
    let look = async || {
        taken.extend(at_once(claim(&*store, &tasks, LONG, 1)).await.claims);
        (taken.len() == 2).then_some(())
    };
    eventually_async(BOUND, look).await;
    assert_eq!(jobs(&taken), jobs(&crashed[1..]));
    assert!(
        at_once(claim(&*store, &tasks, LONG, 3))
            .await
            .claims
            .is_empty()
    );
    guard.release().await;
    assert_eq!(
        jobs(&claim(&*store, &tasks, LONG, 3).await.claims),
        [guarded]
    );
}

pub(crate) async fn a_trigger_does_not_wait_for_a_guarded_run(world: &World) {
    let store = world.store().await;
    let held = held(&*store, "task", LONG).await;
    let Some(guard) = world.guard(held.key.job).await else {
        return;
    };
    let found = at_once(store.trigger("task")).await.unwrap();
    assert_eq!(found, Some(Triggered::AlreadyRunning));
    guard.release().await;
}
