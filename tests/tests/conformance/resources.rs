//! Jobs that need a second lease, on a name.

mod between;
mod parked;

use std::collections::{BTreeMap, BTreeSet};
use std::slice::from_ref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tasklock_runtime::store::{
    Acquire, Acquired, Anchor, Claim, Due, Finish, NewJob, Resource, Store, Then,
};
use tasklock_runtime::{CommitError, JobState, LeaseKey, Next};
use tokio::sync::Barrier;

use crate::guard::{NOTHING, application, begins};
use crate::named::wanted;
use crate::steps::{
    BOUND, LONG, NONE, SHORT, claim, end, enqueue, expired, finish, job, new, renewal, renewer,
    row, sorted, then,
};
use crate::world::World;

pub(crate) use between::{
    a_name_given_back_during_a_claim_is_not_slept_on,
    a_takeover_takes_no_name_of_another_run_of_the_claim, an_odd_parked_row_holds_up_nobody,
};
pub(crate) use parked::{
    a_busy_name_does_not_hold_up_others, a_cancelled_one_does_not_hold_up_others,
    a_changed_resource_counts_for_what_waits, a_paused_task_does_not_hold_up_others,
    parked_jobs_are_seen_as_waiting, whose_holder_died_is_found,
};

/// A job with a resource, due since long: the earlier, the smaller the number.
pub(super) fn needing(task: &str, name: &str, due: i64) -> NewJob {
    NewJob {
        resource: Some(name.to_owned()),
        due: Due::At(due),
        ..new(task)
    }
}

pub(crate) async fn need(store: &dyn Store, task: &str, name: &str, due: i64) -> i64 {
    enqueue(store, needing(task, name, due)).await.id()
}

#[track_caller]
pub(super) fn resource(claim: &Claim) -> &Resource {
    claim.resource.as_ref().expect("it has its resource")
}

pub(super) async fn by_hand(store: &dyn Store, name: &str, ttl: Duration) -> Option<LeaseKey> {
    let acquired = store.acquire(&[wanted(name, ttl)]).await.unwrap();
    match acquired.as_slice() {
        [Acquired::Granted(key)] => Some(key.clone()),
        [Acquired::Held(_)] => None,
        other => panic!("{other:?}"),
    }
}

/// The end of a run that gives its resource back.
pub(super) fn done(claim: &Claim) -> Finish {
    Finish {
        resource: Some(resource(claim).key.clone()),
        ..then(&claim.key, Then::Done(Some(LONG)))
    }
}

/// Ends a run. A row that another claim has locked just then is skipped, and tried again.
pub(super) async fn end_run(store: &dyn Store, claim: &Claim) {
    let second = resource(claim).key.clone();
    let mut left = BTreeSet::from([claim.key.job, second.job]);
    let start = Instant::now();
    while !left.is_empty() {
        let ended = if left.contains(&claim.key.job) {
            store.finish(&[done(claim)]).await.unwrap()
        } else {
            store.release(from_ref(&second)).await.unwrap()
        };
        left.retain(|job| !ended.contains(job));
        assert!(start.elapsed() < BOUND, "not ended: {left:?}");
    }
}

pub(crate) async fn a_claim_takes_it_and_an_end_gives_it_back(world: &World) {
    let store = world.store().await;
    let mut fence = 0;
    for due in 1..=3 {
        need(&*store, "task", "invoice:1", due).await;
        let claims = claim(&*store, &["task"], LONG, 9).await.claims;
        assert_eq!(claims.len(), 1);
        let held = resource(&claims[0]);
        assert_eq!(held.name, "invoice:1");
        assert!(held.key.fence > fence, "{held:?} after {fence}");
        fence = held.key.fence;
        assert_eq!(by_hand(&*store, "invoice:1", LONG).await, None);
        let mut heartbeat = renewer(&*store).await;
        let both = [&claims[0].key, &held.key].map(|key| renewal(key, LONG));
        let renewed = heartbeat.renew(&both).await.unwrap();
        assert_eq!(
            sorted(renewed),
            sorted(vec![claims[0].key.job, held.key.job])
        );
        end_run(&*store, &claims[0]).await;
        assert_eq!(job(&*store, claims[0].key.job).await.state, JobState::Done);
        let key = by_hand(&*store, "invoice:1", LONG).await.unwrap();
        assert!(key.fence > fence);
        fence = key.fence;
        assert_eq!(store.release(from_ref(&key)).await.unwrap(), [key.job]);
    }
}

pub(crate) async fn jobs_of_one_name_run_one_after_the_other(world: &World) {
    let store = world.store().await;
    let other = world.store().await;
    let mut expected = Vec::new();
    for due in 1..=4 {
        expected.push(need(&*store, "one", "a", 2 * due).await);
        expected.push(need(&*store, "two", "a", 2 * due + 1).await);
    }
    // Of greater priority by more than they are later.
    let first = NewJob {
        priority: 100,
        ..needing("one", "a", 50)
    };
    expected.insert(0, enqueue(&*store, first).await.id());
    let mut order = Vec::new();
    for turn in 0..9 {
        let store = if turn % 2 == 0 { &store } else { &other };
        let batch = claim(&**store, &["one", "two"], LONG, 5).await;
        assert_eq!(batch.claims.len(), 1, "turn {turn}: {batch:?}");
        let second = claim(&*other, &["one", "two"], LONG, 5).await;
        assert!(second.claims.is_empty(), "turn {turn}: {second:?}");
        order.push(batch.claims[0].key.job);
        assert_eq!(batch.claims[0].attempt, 1, "nothing has run before");
        end_run(&**store, &batch.claims[0]).await;
    }
    assert_eq!(order, expected);
}

pub(crate) async fn whoever_holds_the_name_keeps_jobs_out(world: &World) {
    let store = world.store().await;
    let hand = by_hand(&*store, "a", LONG).await.unwrap();
    let id = need(&*store, "task", "a", 1).await;
    need(&*store, "task", "b", 2).await;
    let claims = claim(&*store, &["task"], LONG, 9).await.claims;
    assert_eq!(claims.len(), 1, "the other name is free");
    assert_eq!(resource(&claims[0]).name, "b");
    let batch = claim(&*store, &["task"], LONG, 9).await;
    assert!(batch.claims.is_empty());
    assert!(batch.wait.unwrap() <= Duration::from_secs(1), "{batch:?}");
    assert_eq!(store.release(from_ref(&hand)).await.unwrap(), [hand.job]);
    let claims = claim(&*store, &["task"], LONG, 9).await.claims;
    assert_eq!(claims[0].key.job, id);
    assert!(resource(&claims[0]).key.fence > hand.fence);
}

pub(crate) async fn a_takeover_takes_both(world: &World) {
    let (a, b) = (world.store().await, world.store().await);
    let id = need(&*a, "task", "a", 1).await;
    let first = claim(&*a, &["task"], SHORT, 1).await.claims.remove(0);
    let mut heartbeat = renewer(&*a).await;
    // The second lease lasts, the first one does not: the run has ended with it.
    let renewed = heartbeat
        .renew(&[renewal(&resource(&first).key, LONG)])
        .await;
    assert_eq!(renewed.unwrap(), [resource(&first).key.job]);
    expired(&*b, id).await;
    let second = claim(&*b, &["task"], LONG, 1).await.claims.remove(0);
    assert!(second.takeover && second.crashes == 1);
    assert!(resource(&second).key.fence > resource(&first).key.fence);
    let late = [&first.key, &resource(&first).key].map(|key| renewal(key, LONG));
    assert_eq!(heartbeat.renew(&late).await.unwrap(), NONE);
    assert_eq!(a.finish(&[done(&first)]).await.unwrap(), NONE);
    let keys = [first.key.clone(), resource(&first).key.clone()];
    assert_eq!(a.release(&keys).await.unwrap(), NONE);
    assert!(
        row(&*b, resource(&second).key.job)
            .await
            .is_held_under(&resource(&second).key)
    );
    end_run(&*b, &second).await;
}

pub(crate) async fn a_crashed_job_waits_for_its_name(world: &World) {
    let store = world.store().await;
    let id = need(&*store, "task", "a", 1).await;
    let first = claim(&*store, &["task"], SHORT, 1).await.claims.remove(0);
    expired(&*store, id).await;
    expired(&*store, resource(&first).key.job).await;
    let hand = by_hand(&*store, "a", LONG).await.unwrap();
    assert!(hand.fence > resource(&first).key.fence);
    assert!(claim(&*store, &["task"], LONG, 1).await.claims.is_empty());
    let waiting = job(&*store, id).await;
    assert_eq!((waiting.state, waiting.crashes), (JobState::Ready, 1));
    store.release(&[hand]).await.unwrap();
    let second = claim(&*store, &["task"], LONG, 1).await.claims.remove(0);
    assert_eq!((second.key.job, second.attempt, second.crashes), (id, 2, 1));
    assert!(second.key.fence > first.key.fence);
}

/// Somebody wanted it cancelled, its worker died, and its name is not to be had: it ends all the same.
pub(crate) async fn a_cancelled_one_that_crashed_ends_without_its_name(world: &World) {
    let store = world.store().await;
    let id = need(&*store, "task", "a", 1).await;
    let first = claim(&*store, &["task"], SHORT, 1).await.claims.remove(0);
    store.cancel(id).await.unwrap();
    expired(&*store, id).await;
    expired(&*store, resource(&first).key.job).await;
    by_hand(&*store, "a", LONG).await.unwrap();
    assert!(claim(&*store, &["task"], LONG, 1).await.claims.is_empty());
    let ended = job(&*store, id).await;
    assert_eq!(ended.state, JobState::Cancelled);
    assert_eq!(ended.due_at.unwrap().as_microsecond(), 1);
    assert_eq!(claim(&*store, &["task"], LONG, 1).await.wait, None);
}

pub(crate) async fn both_are_given_back(world: &World) {
    let store = world.store().await;
    need(&*store, "task", "a", 1).await;
    let first = claim(&*store, &["task"], LONG, 1).await.claims.remove(0);
    let keys = [first.key.clone(), resource(&first).key.clone()];
    let released = store.release(&keys).await.unwrap();
    assert_eq!(sorted(released), sorted(vec![keys[0].job, keys[1].job]));
    let second = claim(&*store, &["task"], LONG, 1).await.claims.remove(0);
    assert_eq!(second.attempt, 1);
    assert_eq!(store.abandon(&second.key.owner).await.unwrap(), 2);
    let third = claim(&*store, &["task"], LONG, 1).await.claims.remove(0);
    assert!(resource(&third).key.fence > resource(&second).key.fence);
}

/// The guard looks at both rows.
pub(crate) async fn a_guard_holds_both(world: &World) {
    let Some(mut sql) = application(world).await else {
        return;
    };
    let store = world.store().await;
    let anchors = |claim: &Claim| -> Vec<Arc<Anchor>> {
        let keys = [&claim.key, &resource(claim).key];
        keys.map(|key| store.anchor(end(key, Next::Dormant), LONG))
            .to_vec()
    };
    for begin in begins(&sql) {
        need(&*store, begin, begin, 1).await;
        let held = claim(&*store, &[begin], SHORT, 1).await.claims.remove(0);
        let mut heartbeat = renewer(&*store).await;
        let renewed = heartbeat.renew(&[renewal(&held.key, LONG)]).await;
        assert_eq!(renewed.unwrap(), [held.key.job]);
        let before = sql.effects().await;
        expired(&*store, resource(&held).key.job).await;
        let hand = by_hand(&*store, begin, LONG).await.unwrap();
        for complete in [false, true] {
            let committed = sql
                .effect_under(begin, &anchors(&held), complete, NOTHING)
                .await;
            assert!(
                matches!(committed, Err(CommitError::Lost(_))),
                "{committed:?}"
            );
        }
        assert!(row(&*store, held.key.job).await.is_held_under(&held.key));
        assert_eq!(sql.effects().await, before);
        store.release(&[hand, held.key.clone()]).await.unwrap();
        let held = claim(&*store, &[begin], LONG, 1).await.claims.remove(0);
        let committed = sql
            .effect_under(begin, &anchors(&held), false, NOTHING)
            .await;
        committed.unwrap();
        let committed = sql
            .effect_under(begin, &anchors(&held), true, NOTHING)
            .await;
        committed.unwrap();
        assert!(!row(&*store, held.key.job).await.running);
        let second = resource(&held).key.clone();
        assert!(row(&*store, second.job).await.is_held_under(&second));
        store.release(&[second]).await.unwrap();
    }
}

/// Claims of many names at once, by many: each name has one holder, and everything ends.
pub(crate) async fn many_at_once_are_one_at_a_time(world: &World) {
    const CLAIMERS: usize = 6;
    let stores = world.stores(CLAIMERS).await;
    let mut left = BTreeSet::new();
    for due in 0..60 {
        left.insert(need(&*stores[0], "task", &format!("name {}", due % 5), due).await);
    }
    let barrier = Arc::new(Barrier::new(CLAIMERS));
    let held = Arc::new(std::sync::Mutex::new(BTreeMap::new()));
    let mut claimers = Vec::new();
    for store in stores {
        let (barrier, held) = (Arc::clone(&barrier), Arc::clone(&held));
        claimers.push(tokio::spawn(async move {
            barrier.wait().await;
            let mut ended = Vec::new();
            let start = Instant::now();
            let mut idle = 0;
            while idle < 3 && start.elapsed() < BOUND {
                tokio::task::yield_now().await;
                let batch = claim(&*store, &["task"], LONG, 4).await;
                idle = if batch.wait.is_none() { idle + 1 } else { 0 };
                for claim in batch.claims {
                    let held_before = held
                        .lock()
                        .unwrap()
                        .insert(resource(&claim).name.clone(), claim.key.job);
                    assert_eq!(held_before, None, "{claim:?}");
                    tokio::task::yield_now().await;
                    held.lock().unwrap().remove(&resource(&claim).name);
                    end_run(&*store, &claim).await;
                    ended.push(claim.key.job);
                }
            }
            ended
        }));
    }
    for claimer in claimers {
        for job in claimer.await.unwrap() {
            assert!(left.remove(&job), "the job {job} has run twice");
        }
    }
    assert!(left.is_empty(), "not run: {left:?}");
}

/// Where no name is to be had, nothing of a job's row but its fence has changed.
pub(crate) async fn what_is_not_had_is_as_it_was(world: &World) {
    let store = world.store().await;
    by_hand(&*store, "a", LONG).await.unwrap();
    let id = need(&*store, "task", "a", 7).await;
    let before = job(&*store, id).await;
    assert!(claim(&*store, &["task"], LONG, 1).await.claims.is_empty());
    let after = job(&*store, id).await;
    assert_eq!(after.state, JobState::Ready);
    assert_eq!(after.due_at, before.due_at);
    assert_eq!((after.attempt, after.crashes, after.refusals), (0, 0, 0));
    assert_eq!((after.worker, after.lock_until), (None, None));
    assert_eq!(after.resource.as_deref(), Some("a"));
}

/// As the claims of a batch are told to the store that lost the reply.
pub(crate) async fn finished_ones_that_go_away_free_the_name(world: &World) {
    let store = world.store().await;
    need(&*store, "task", "a", 1).await;
    need(&*store, "task", "a", 2).await;
    let first = claim(&*store, &["task"], LONG, 9).await.claims.remove(0);
    let gone = Finish {
        then: Then::Done(None),
        error: None,
        ..done(&first)
    };
    store.finish(&[gone]).await.unwrap();
    assert_eq!(store.job(first.key.job).await.unwrap(), None);
    let second = claim(&*store, &["task"], LONG, 9).await.claims.remove(0);
    finish(&*store, then(&second.key, Then::Done(None))).await;
    let wanted: Acquire = wanted("a", LONG);
    let acquired = store.acquire(&[wanted]).await.unwrap();
    assert!(
        matches!(acquired[0], Acquired::Held(_)),
        "an end without it"
    );
}
