//! The most runs of a task at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tasklock_runtime::store::{Counts, Finish, Then, Wake};
use tasklock_test_support::wait::eventually_async;
use tokio::sync::Barrier;

use crate::steps::{
    BOUND, LONG, SHORT, assert_about, claim, enqueue, enqueue_due, expired, finish, limited, new,
    request, then, watch,
};
use crate::world::World;

const MOST: u32 = 5;
const JOBS: i64 = 400;

pub(crate) async fn it_is_reached_and_no_more(world: &World) {
    let store = world.store().await;
    enqueue_due(&*store, "task", 10).await;
    let look = async |limit| store.claim(&limited("task", LONG, 3, limit)).await.unwrap();
    let first = look(2).await;
    assert_eq!(first.claims.len(), 2);
    assert_eq!(first.wait, Some(Duration::ZERO), "there is room for one");
    let second = look(9).await;
    assert_eq!(second.claims.len(), 1);
    for batch in [&second, &look(9).await] {
        // Nothing can happen before a lease expires, unless an end is announced.
        let wait = batch.wait.unwrap();
        assert!(wait > LONG / 2 && wait <= LONG, "{batch:?}");
    }
    finish(&*store, then(&first.claims[0].key, Then::Done(None))).await;
    store.release(&[first.claims[1].key.clone()]).await.unwrap();
    assert_eq!(look(9).await.claims.len(), 2);
    assert_eq!(look(9).await.claims.len(), 0);
}

pub(crate) async fn each_task_has_its_own(world: &World) {
    let store = world.store().await;
    for task in ["one", "two", "free"] {
        enqueue_due(&*store, task, 10).await;
    }
    let look = async |one, two, limit| {
        let mut request = request(&["one", "two", "free"], LONG, limit);
        (request.tasks[0].most, request.tasks[1].most) = (Some(one), Some(two));
        let mut taken = BTreeMap::new();
        for claim in store.claim(&request).await.unwrap().claims {
            *taken.entry(claim.task).or_insert(0) += 1;
        }
        ["one", "two", "free"].map(|task| taken.get(task).copied().unwrap_or(0))
    };
    assert_eq!(look(0, 2, 99).await, [0, 2, 10]);
    // Another worker, with another release's limits: each counts all runs.
    assert_eq!(look(3, 1, 99).await, [3, 0, 0]);
    assert_eq!(look(3, 4, 99).await, [0, 2, 0]);
}

/// What a task has no room for does not use up the limit of a call.
pub(crate) async fn a_full_task_leaves_the_others_their_share(world: &World) {
    let store = world.store().await;
    enqueue_due(&*store, "full", 50).await;
    enqueue(&*store, new("other")).await;
    let mut request = request(&["full", "other"], LONG, 4);
    request.tasks[0].most = Some(2);
    let claims = store.claim(&request).await.unwrap().claims;
    let of = |task: &str| claims.iter().filter(|claim| claim.task == task).count();
    assert_eq!((of("full"), of("other")), (2, 1));
}

pub(crate) async fn an_expired_run_keeps_its_place_until_it_is_taken(world: &World) {
    let store = world.store().await;
    enqueue_due(&*store, "task", 9).await;
    let first = store.claim(&limited("task", SHORT, 2, 9)).await.unwrap();
    assert_eq!(first.claims.len(), 2);
    for claim in &first.claims {
        expired(&*store, claim.key.job).await;
    }
    let look = async || store.claim(&limited("task", LONG, 2, 9)).await.unwrap();
    let second = look().await;
    // Two places, and two rows to take over: both are taken, and nothing that is due.
    assert_eq!(second.claims.len(), 2, "{second:?}");
    assert!(second.claims.iter().all(|claim| claim.takeover));
    assert!(second.wait > Some(LONG / 2), "{second:?}");
    assert!(look().await.claims.is_empty());
}

/// Eight workers' claims and ends. A place is counted as taken from before its claim was answered until its
/// end was sent; the rows, by the database.
pub(crate) async fn eight_claimers_never_exceed_it(world: &World) {
    let store = world.store().await;
    enqueue_due(&*store, "task", JOBS).await;
    let running = Arc::new(AtomicUsize::new(0));
    let (most, left) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(usize::try_from(JOBS).unwrap())),
    );
    let start = Arc::new(Barrier::new(8));
    let held: Arc<Mutex<Vec<_>>> = Arc::default();
    let mut working = Vec::new();
    for (nth, store) in world.stores(8).await.into_iter().enumerate() {
        let (start, running, most) = (start.clone(), running.clone(), most.clone());
        let (left, held) = (left.clone(), held.clone());
        working.push(tokio::spawn(async move {
            start.wait().await;
            while left.load(Ordering::Relaxed) > 0 {
                let limit = 1 + nth % 3;
                let batch = store.claim(&limited("task", LONG, MOST, limit)).await;
                for claim in batch.unwrap().claims {
                    let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    held.lock().unwrap().push(claim.key);
                }
                let ends: Vec<Finish> = {
                    let mut held = held.lock().unwrap();
                    // Not all of them, so that the limit is met.
                    let keep = held.len().min(nth % 5);
                    held.drain(keep..)
                        .map(|key| then(&key, Then::Done(None)))
                        .collect()
                };
                running.fetch_sub(ends.len(), Ordering::SeqCst);
                left.fetch_sub(ends.len(), Ordering::Relaxed);
                assert_eq!(store.finish(&ends).await.unwrap().len(), ends.len());
            }
        }));
    }
    let over = Arc::new(AtomicBool::new(false));
    let counting = world.sql().await.map(|mut sql| {
        let over = over.clone();
        tokio::spawn(async move {
            let (mut most, mut counted) = (0, 0);
            while !over.load(Ordering::Relaxed) {
                let count = "SELECT count(*) FROM tasklock_job WHERE state = 'running'";
                most = most.max(sql.number(count).await);
                counted += 1;
            }
            (most, counted)
        })
    });
    for worker in working {
        tokio::time::timeout(2 * BOUND, worker)
            .await
            .expect("all jobs are run")
            .unwrap();
    }
    over.store(true, Ordering::Relaxed);
    let most = most.load(Ordering::SeqCst);
    assert!(most <= usize::try_from(MOST).unwrap(), "{most}");
    if let Some(counting) = counting {
        let (most, counted) = counting.await.unwrap();
        assert!(most <= i64::from(MOST) && counted > 10, "{most} {counted}");
    }
    assert!(claim(&*store, &["task"], LONG, 9).await.claims.is_empty());
}

pub(crate) async fn a_freed_place_is_announced(world: &World) {
    let Some(([one, two], mut watch)) = watch(world, "limits_").await else {
        return;
    };
    enqueue_due(&*one, "task", 3).await;
    assert_eq!(watch.next().await, Wake::Work, "enqueued");
    for end in [Then::Done(None), Then::Dead(LONG)] {
        let mut claims = one
            .claim(&limited("task", LONG, 1, 9))
            .await
            .unwrap()
            .claims;
        while !watch.is_quiet() {
            // Where each change of the file is seen, the claim was.
            watch.next().await;
        }
        assert_eq!(claims.len(), 1);
        let end = Finish {
            frees_place: true,
            ..then(&claims.remove(0).key, end)
        };
        finish(&*one, end).await;
        assert_eq!(watch.next().await, Wake::Work, "a place is free");
    }
    assert_eq!(
        two.claim(&limited("task", LONG, 1, 9))
            .await
            .unwrap()
            .claims
            .len(),
        1
    );
}

pub(crate) async fn a_hold_keeps_the_place(world: &World) {
    let store = world.store().await;
    let hold = Duration::from_millis(400);
    for (nth, end) in [
        Then::Done(None),
        Then::Done(Some(LONG)),
        Then::Dead(LONG),
        Then::Cancelled(LONG),
        Then::Again(10 * LONG, Counts::Attempt),
    ]
    .into_iter()
    .enumerate()
    {
        let task = format!("task {nth}");
        enqueue_due(&*store, &task, 2).await;
        let look = async || store.claim(&limited(&task, LONG, 1, 9)).await.unwrap();
        let claimed_at = async |job| {
            let job = crate::steps::job(&*store, job).await;
            job.claimed_at.unwrap().as_microsecond()
        };
        let first = look().await.claims.remove(0).key;
        let began = claimed_at(first.job).await;
        let end = Finish {
            hold: Some(hold),
            ..then(&first, end)
        };
        finish(&*store, end).await;
        // Its end is the next event.
        let batch = look().await;
        let mut second = batch.claims;
        if second.is_empty() {
            assert!(batch.wait.is_some_and(|wait| wait <= hold), "{nth}");
            second = eventually_async(BOUND, async || {
                let claims = look().await.claims;
                (!claims.is_empty()).then_some(claims)
            })
            .await;
        }
        assert_eq!(second.len(), 1);
        let second = second[0].key.job;
        assert_ne!(second, first.job);
        assert!(claimed_at(second).await - began >= 400_000, "{nth}");
        assert_about(look().await.wait, LONG);
    }
}
