//! What a claim takes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tasklock_runtime::Next;
use tasklock_runtime::store::Wanted;
use tasklock_test_support::wait::eventually_async;
use tokio::sync::Barrier;

use crate::steps::{
    BOUND, LONG, SECOND, SHORT, assert_about, claim, claim_all, claim_one, declare_due,
    declare_many, end, request, row, standing, taken_over, task,
};
use crate::world::World;

pub(crate) async fn only_what_is_due(world: &World) {
    let store = world.store().await;
    let now = store.now().await.unwrap();
    let tasks = [
        task("long ago", Some(1)),
        task("just now", Some(now)),
        task("in a minute", Some(now + 60 * SECOND)),
        task("never", None),
    ];
    store.declare(&tasks).await.unwrap();
    let names = ["long ago", "just now", "in a minute", "never"];
    let batch = claim(&*store, &names, LONG, 9).await;
    let taken: Vec<_> = batch
        .claims
        .iter()
        .map(|claim| (&*claim.task, claim.due_at))
        .collect();
    assert_eq!(
        BTreeSet::from_iter(taken),
        BTreeSet::from([("long ago", 1), ("just now", now)])
    );
    assert!(
        batch
            .claims
            .iter()
            .all(|claim| !claim.takeover && claim.attempt == 1)
    );
}

pub(crate) async fn not_before_it_is_due(world: &World) {
    let store = world.store().await;
    let due = store.now().await.unwrap() + SECOND / 4;
    store.declare(&[task("task", Some(due))]).await.unwrap();
    let look = async || {
        let batch = claim(&*store, &["task"], LONG, 1).await;
        let taken = !batch.claims.is_empty();
        // The answer's clock is read after the look.
        assert!(!taken || batch.now >= due, "{batch:?} before {due}");
        taken.then_some(batch.claims)
    };
    let claims = eventually_async(BOUND, look).await;
    assert_eq!(claims[0].due_at, due);
}

pub(crate) async fn the_limit_is_exact(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 10).await;
    let mut taken = Vec::new();
    for limit in [0, 3, 3, 3, 3, 3] {
        taken.push(claim(&*store, &tasks, LONG, limit).await.claims.len());
    }
    assert_eq!(taken, [0, 3, 3, 3, 1, 0]);
}

pub(crate) async fn only_tasks_that_the_worker_has(world: &World) {
    let store = world.store().await;
    declare_due(&*store, &["one", "two", "three"]).await;
    let claims = claim(&*store, &["two", "four"], LONG, 9).await.claims;
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].task, "two");
    assert!(
        claim(&*store, &[] as &[&str], LONG, 9)
            .await
            .claims
            .is_empty()
    );
    claim_all(&*store, &["one", "three"], LONG).await;
}

pub(crate) async fn the_earliest_first(world: &World) {
    let store = world.store().await;
    let due = [("c", 30), ("a", 10), ("e", 50), ("b", 20), ("d", 40)];
    let tasks: Vec<_> = due.iter().map(|(name, at)| task(name, Some(*at))).collect();
    store.declare(&tasks).await.unwrap();
    let names = ["e", "d", "c", "b", "a"];
    let mut order = String::new();
    for limit in [1, 2, 1, 1] {
        let mut claims = claim(&*store, &names, LONG, limit).await.claims;
        // Only which rows it takes is promised, not their order in the answer.
        claims.sort_by_key(|claim| claim.due_at);
        order.extend(claims.into_iter().map(|claim| claim.task));
    }
    assert_eq!(order, "abcde");
}

pub(crate) async fn each_claim_raises_the_fence(world: &World) {
    let store = world.store().await;
    declare_due(&*store, &["task"]).await;
    let finished = claim_one(&*store, "task", LONG).await;
    world.assert_next_fence(finished.key.fence, 0);
    store
        .finish(&[end(&finished.key, Next::at(7))])
        .await
        .unwrap();

    let released = claim_one(&*store, "task", LONG).await;
    world.assert_next_fence(released.key.fence, finished.key.fence);
    assert_eq!(released.due_at, 7);
    let before = released.key.fence;
    store.release(&[released.key]).await.unwrap();

    let expires = claim_one(&*store, "task", SHORT).await;
    world.assert_next_fence(expires.key.fence, before);
    let last = taken_over(&*store, "task", LONG).await;
    world.assert_next_fence(last.key.fence, expires.key.fence);
    assert_eq!(last.key.job, finished.key.job);
    assert_eq!(row(&*store, last.key.job).await.fence, last.key.fence);
}

pub(crate) async fn eight_claimers_get_disjoint_rows(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 200).await;
    let start = Arc::new(Barrier::new(8));
    let mut claiming = Vec::new();
    for store in world.stores(8).await {
        let (start, tasks) = (Arc::clone(&start), tasks.clone());
        claiming.push(tokio::spawn(async move {
            start.wait().await;
            let mut taken = Vec::new();
            loop {
                let claims = claim(&*store, &tasks, LONG, 7).await.claims;
                assert!(claims.len() <= 7);
                if claims.is_empty() {
                    return taken;
                }
                taken.extend(claims);
            }
        }));
    }
    let (mut all, mut seen) = (0, BTreeSet::new());
    for taken in claiming {
        for claim in taken.await.unwrap() {
            all += 1;
            world.assert_next_fence(claim.key.fence, 0);
            assert_eq!(claim.attempt, 1);
            seen.insert(claim.key.job);
        }
    }
    assert_eq!((all, seen.len()), (200, 200));
}

pub(crate) async fn each_task_has_its_own_ttl(world: &World) {
    let store = world.store().await;
    declare_due(&*store, &["short", "long"]).await;
    let mut request = request(&["short", "long"], LONG, 9);
    request.tasks[1].ttl = 10 * LONG;
    assert_eq!(store.claim(&request).await.unwrap().claims.len(), 2);
    for Wanted { task, ttl, .. } in request.tasks {
        assert_about(standing(&*store, &task).await.left, ttl);
    }
}

pub(crate) async fn the_row_says_who_holds_it(world: &World) {
    let store = world.store().await;
    declare_due(&*store, &["task"]).await;
    let before = standing(&*store, "task").await;
    assert!(!before.running && before.owner.is_none() && before.left.is_none());
    assert_eq!((before.fence, before.attempt, before.crashes), (0, 0, 0));
    assert_eq!((before.last_outcome, before.last_error), (None, None));

    let request = request(&["task"], Duration::from_secs(90), 1);
    let claim = store.claim(&request).await.unwrap().claims.remove(0);
    assert_eq!(claim.key.owner, request.token);
    let held = standing(&*store, "task").await;
    assert!(held.is_held_under(&claim.key), "{held:?}");
    assert_eq!((&*held.task, held.due_at), ("task", Some(1)));
    assert_eq!((held.attempt, held.crashes), (1, 0));
    assert_about(held.left, Duration::from_secs(90));
    assert_eq!(
        store.inspect(&[claim.key.job + 1_000_000]).await.unwrap(),
        []
    );
    assert_eq!(store.standing("another").await.unwrap(), None);
}
