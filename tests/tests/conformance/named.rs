//! Named leases: rows of their own kind, kept by the same statements.

mod line;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tasklock_runtime::store::{Acquire, Acquired, JobQuery, JobState, LEASES, Renewal, Store};
use tasklock_runtime::{LeaseKey, Next, OwnerToken};
use tasklock_test_support::wait::eventually_async;
use tokio::sync::Barrier;

use crate::steps::{
    BOUND, LONG, SHORT, assert_about, claim, declare_due, end, expired, finish, renewer,
};
use crate::world::World;

pub(crate) use line::{
    an_expired_one_is_for_the_first, jobs_come_after_those_who_wait,
    nobody_gets_what_others_wait_for, the_first_in_the_line_is_told,
    those_who_wait_get_it_in_their_order, who_has_died_holds_up_nobody_for_long,
    who_leaves_the_line_makes_room, who_takes_a_place_looks_at_the_name_again,
};

pub(crate) fn wanted(name: &str, ttl: Duration) -> Acquire {
    Acquire {
        name: name.to_owned(),
        owner: OwnerToken::fresh(),
        worker: "a worker".to_owned(),
        ttl,
        ticket: None,
    }
}

pub(crate) async fn acquire(store: &dyn Store, name: &str, ttl: Duration) -> Acquired {
    let mut acquired = store.acquire(&[wanted(name, ttl)]).await.unwrap();
    assert_eq!(acquired.len(), 1);
    acquired.remove(0)
}

#[track_caller]
fn granted(acquired: Acquired) -> LeaseKey {
    match acquired {
        Acquired::Granted(key) => key,
        Acquired::Held(left) => panic!("held by somebody else for {left:?}"),
    }
}

#[track_caller]
fn left(acquired: Acquired) -> Duration {
    match acquired {
        Acquired::Granted(key) => panic!("granted: {key:?}"),
        Acquired::Held(left) => left,
    }
}

pub(crate) async fn a_name_has_one_holder_at_a_time(world: &World) {
    let store = world.store().await;
    let held = granted(acquire(&*store, "tenant:42", LONG).await);
    assert_about(Some(left(acquire(&*store, "tenant:42", LONG).await)), LONG);
    granted(acquire(&*store, "tenant:43", LONG).await);

    let other = world.store().await;
    assert_eq!(
        other.release(std::slice::from_ref(&held)).await.unwrap(),
        [held.job]
    );
    let next = granted(acquire(&*store, "tenant:42", LONG).await);
    assert!(next.fence > held.fence, "{next:?} after {held:?}");
    assert_eq!(next.job, held.job);
    assert!(store.release(&[held]).await.unwrap().is_empty());
}

pub(crate) async fn an_expired_one_is_taken_and_not_before(world: &World) {
    let store = world.store().await;
    let held = granted(acquire(&*store, "name", SHORT).await);
    let mut renewer = renewer(&*store).await;
    let renewal = Renewal {
        key: held.clone(),
        ttl: 2 * SHORT,
        progress: None,
    };
    assert_eq!(renewer.renew(&[renewal]).await.unwrap(), [held.job]);
    let taken = eventually_async(BOUND, async || {
        let before = store.now().await.unwrap();
        match acquire(&*store, "name", LONG).await {
            Acquired::Granted(key) => Some((key, before)),
            Acquired::Held(_) => None,
        }
    })
    .await;
    assert!(taken.0.fence > held.fence);
    let row = &store.inspect(&[held.job]).await.unwrap()[0];
    assert!(row.is_held_under(&taken.0) && !row.is_held_under(&held));
}

pub(crate) async fn one_of_sixteen_has_it(world: &World) {
    let stores = world.stores(16).await;
    for round in 0..10 {
        let name = format!("name {round}");
        let start = Arc::new(Barrier::new(16));
        let mut asking = Vec::new();
        for store in &stores {
            let (store, start, name) = (Arc::clone(store), Arc::clone(&start), name.clone());
            asking.push(tokio::spawn(async move {
                start.wait().await;
                acquire(&*store, &name, LONG).await
            }));
        }
        let mut holders = 0;
        for asked in asking {
            holders += usize::from(matches!(asked.await.unwrap(), Acquired::Granted(_)));
        }
        assert_eq!(holders, 1, "of {name}");
    }
}

pub(crate) async fn many_names_in_one_call(world: &World) {
    let store = world.store().await;
    granted(acquire(&*store, "name 7", LONG).await);
    let all: Vec<_> = (0..100)
        .map(|number| wanted(&format!("name {number}"), LONG))
        .collect();
    let acquired = store.acquire(&all).await.unwrap();
    let mut jobs = BTreeSet::new();
    for (number, (acquired, wanted)) in acquired.into_iter().zip(all).enumerate() {
        if number == 7 {
            assert_about(Some(left(acquired)), LONG);
        } else {
            let key = granted(acquired);
            assert_eq!(key.owner, wanted.owner);
            jobs.insert(key.job);
        }
    }
    assert_eq!(jobs.len(), 99);
}

/// A row that nobody has held for long is deleted; the fences of its name go on all the same.
pub(crate) async fn fences_do_not_go_back_when_a_row_goes(world: &World) {
    let store = world.store().await;
    if world.sql().await.is_none() && world.keys().await.is_none() {
        return;
    }
    let mut last = 0;
    for _ in 0..3 {
        let key = granted(acquire(&*store, "name", LONG).await);
        assert!(key.fence > last, "{} after {last}", key.fence);
        last = key.fence;
        store.release(std::slice::from_ref(&key)).await.unwrap();
        assert_eq!(store.prune(9).await.unwrap(), 0, "it is kept for a day");
        let_it_be_pruned(world).await;
        assert_eq!(store.prune(9).await.unwrap(), 1);
        assert!(store.inspect(&[key.job]).await.unwrap().is_empty());
    }
    // One that is held is not, whatever its row says.
    let key = granted(acquire(&*store, "name", LONG).await);
    let_it_be_pruned(world).await;
    assert_eq!(store.prune(9).await.unwrap(), 0);
    assert_eq!(
        store.release(std::slice::from_ref(&key)).await.unwrap(),
        [key.job]
    );
}

async fn let_it_be_pruned(world: &World) {
    if let Some(mut sql) = world.sql().await {
        let now = "UPDATE tasklock_job SET prune_at = created_at";
        sql.execute(now).await;
    }
    if let Some(mut keys) = world.keys().await {
        keys.let_it_be_pruned().await;
    }
}

pub(crate) async fn names_and_tasks_are_apart(world: &World) {
    let store = world.store().await;
    declare_due(&*store, &["one"]).await;
    let held = granted(acquire(&*store, "one", SHORT).await);
    expired(&*store, held.job).await;
    let claims = claim(&*store, &["one"], LONG, 9).await.claims;
    let jobs: Vec<_> = claims.iter().map(|claim| claim.key.job).collect();
    assert!(claims.len() == 1 && !jobs.contains(&held.job), "{claims:?}");
    assert_eq!(store.trigger(LEASES).await.unwrap(), None);
    assert_eq!(store.cancel(held.job).await.unwrap(), None);
    assert_eq!(store.retry(held.job).await.unwrap(), None);
    assert_eq!(store.job(held.job).await.unwrap(), None);
    let query = JobQuery {
        task: None,
        states: vec![JobState::Ready, JobState::Running],
        before: i64::MAX,
        limit: 9,
    };
    let listed = store.jobs(&query).await.unwrap();
    assert!(listed.iter().all(|job| job.id != held.job), "{listed:?}");
}

pub(crate) async fn what_was_lost_is_given_back_by_its_token(world: &World) {
    let store = world.store().await;
    let asked = wanted("name", LONG);
    let key = granted(
        store
            .acquire(std::slice::from_ref(&asked))
            .await
            .unwrap()
            .remove(0),
    );
    assert_eq!(store.abandon(&asked.owner).await.unwrap(), 1);
    let next = granted(acquire(&*store, "name", LONG).await);
    assert!(next.fence > key.fence);
}

/// On SQLite a write would be seen by everybody who waits, and bring them to ask again.
pub(crate) async fn a_refused_acquisition_writes_nothing(world: &World) {
    let store = world.store().await;
    let mut observer = world.observer().await;
    let held = granted(acquire(&*store, "name", LONG).await);
    let before = observer.see(held.job).await;
    for _ in 0..3 {
        assert_about(Some(left(acquire(&*store, "name", LONG).await)), LONG);
    }
    assert_eq!(observer.see(held.job).await, before);
}

/// As a transaction does that completes it: the row can be deleted as any other that nobody holds.
pub(crate) async fn a_completed_one_is_free_and_can_be_deleted(world: &World) {
    let store = world.store().await;
    if let Some(mut keys) = world.keys().await {
        let held = granted(acquire(&*store, "name", LONG).await);
        finish(&*store, end(&held, Next::Dormant)).await;
        assert!(keys.field(held.job, "prune_at").await.is_some());
        let next = granted(acquire(&*store, "name", LONG).await);
        assert!(next.fence > held.fence && next.job == held.job);
        assert_eq!(keys.field(held.job, "prune_at").await, None);
        keys.let_it_be_pruned().await;
        assert_eq!(store.prune(9).await.unwrap(), 0);
    }
    let Some(mut sql) = world.sql().await else {
        return;
    };
    let held = granted(acquire(&*store, "name", LONG).await);
    finish(&*store, end(&held, Next::Dormant)).await;
    let kept = "SELECT CAST(count(prune_at) AS TEXT) FROM tasklock_job";
    assert_eq!(sql.text(kept).await, "1");
    let next = granted(acquire(&*store, "name", LONG).await);
    assert!(next.fence > held.fence);
    assert_eq!(sql.text(kept).await, "0");
}
