//! Jobs that are run again by hand.

use std::slice::from_ref;
use std::time::Duration;

use tasklock_runtime::JobState::{Cancelled, Dead, Done, Ready};
use tasklock_runtime::Next;
use tasklock_runtime::store::{Counts, Due, Enqueued, NewJob, Retried, Then};

use crate::steer::{list, one_of_each};
use crate::steps::{
    LONG, NONE, SECOND, SHORT, claim_one, declare_due, end, enqueue, expired, finish, job, new,
    started, taken_over, then, watch, with_key,
};
use crate::world::World;

pub(crate) async fn an_ended_job_is_run_anew(world: &World) {
    let store = world.store().await;
    for over in [
        Then::Dead(LONG),
        Then::Done(Some(LONG)),
        Then::Cancelled(LONG),
    ] {
        let due = NewJob {
            payload: Some("[7]".to_owned()),
            priority: 3,
            ..with_key("task", "key")
        };
        let id = enqueue(&*store, due).await.id();
        let claim = claim_one(&*store, "task", SHORT).await;
        let again = Then::Again(Duration::ZERO, Counts::Refusal);
        finish(&*store, then(&claim.key, again)).await;
        claim_one(&*store, "task", SHORT).await;
        expired(&*store, id).await;
        let claim = taken_over(&*store, "task", LONG).await;
        assert_eq!((claim.attempt, claim.crashes, claim.refusals), (2, 1, 1));
        store.cancel(id).await.unwrap();
        finish(&*store, then(&claim.key, over)).await;

        let before = store.now().await.unwrap();
        assert_eq!(store.retry(id).await.unwrap(), Some(Retried::Queued));
        let queued = job(&*store, id).await;
        assert_eq!(queued.state, Ready);
        let due = queued.due_at.unwrap().as_microsecond();
        assert!(due >= before && due <= store.now().await.unwrap());
        assert_eq!((queued.attempt, queued.crashes, queued.refusals), (0, 0, 0));
        assert_eq!(queued.cancelled_at, None);
        assert_eq!(queued.last_error.as_deref(), Some("why"));
        // Nothing of its end is left that would delete it.
        assert_eq!(store.prune(9).await.unwrap(), 0);
        assert_eq!(
            list(&*store, None, &[Done, Dead, Cancelled], id + 1, 1).await,
            NONE
        );
        let taken = enqueue(&*store, with_key("task", "key")).await;
        assert_eq!(taken, Enqueued::Existing(id));
        let again = claim_one(&*store, "task", LONG).await;
        assert_eq!((again.key.job, again.attempt), (id, 1));
        assert_eq!(again.payload.as_deref(), Some("[7]"));
        assert!(again.key.fence > claim.key.fence && !again.to_cancel);
        finish(&*store, then(&again.key, Then::Done(None))).await;
    }
}

pub(crate) async fn a_retry_says_what_it_found(world: &World) {
    let store = world.store().await;
    let ask = async |id| store.retry(id).await.unwrap();
    let [done, .., running, ready] = one_of_each(&*store, "task").await;
    assert_eq!(ask(ready).await, Some(Retried::AlreadyQueued));
    assert_eq!(ask(running).await, Some(Retried::AlreadyRunning));
    assert_eq!(ask(done).await, Some(Retried::Queued));
    assert_eq!(ask(done).await, Some(Retried::AlreadyQueued));
    assert_eq!(ask(ready + 1_000).await, None);

    // One that waits for its retry keeps its attempts.
    let claim = started(&*store, "waits", LONG).await;
    finish(
        &*store,
        then(&claim.key, Then::Again(LONG, Counts::Attempt)),
    )
    .await;
    assert_eq!(ask(claim.key.job).await, Some(Retried::Queued));
    assert_eq!(claim_one(&*store, "waits", LONG).await.attempt, 2);

    // A standing one is due now, as if triggered.
    declare_due(&*store, &["standing"]).await;
    let claim = claim_one(&*store, "standing", LONG).await;
    assert_eq!(ask(claim.key.job).await, Some(Retried::AlreadyRunning));
    finish(&*store, end(&claim.key, Next::Dormant)).await;
    assert_eq!(ask(claim.key.job).await, Some(Retried::Queued));
    assert!(claim_one(&*store, "standing", LONG).await.standing);
}

pub(crate) async fn a_retry_does_not_take_a_key(world: &World) {
    let store = world.store().await;
    let first = enqueue(&*store, with_key("task", "key")).await.id();
    let claim = claim_one(&*store, "task", LONG).await;
    finish(&*store, then(&claim.key, Then::Dead(LONG))).await;
    enqueue(&*store, with_key("other", "key")).await;
    let second = enqueue(&*store, with_key("task", "key")).await.id();
    let before = job(&*store, first).await;
    let taken = Some(Retried::KeyTaken(second));
    assert_eq!(store.retry(first).await.unwrap(), taken);
    let claim = claim_one(&*store, "task", LONG).await;
    assert_eq!(claim.key.job, second);
    assert_eq!(store.retry(first).await.unwrap(), taken);
    assert_eq!(job(&*store, first).await, before, "nothing was changed");
    finish(&*store, then(&claim.key, Then::Done(Some(LONG)))).await;
    // Of many that want the key, one gets it.
    let ids = [first, second].repeat(4);
    let mut asking = Vec::new();
    for (id, store) in ids.into_iter().zip(world.stores(8).await) {
        asking.push(tokio::spawn(async move { (id, store.retry(id).await) }));
    }
    let mut queued = Vec::new();
    let mut told = Vec::new();
    for asked in asking {
        match asked.await.unwrap() {
            (id, Ok(Some(Retried::Queued))) => queued.push(id),
            (id, Ok(Some(Retried::AlreadyQueued))) => told.push((id, id)),
            (id, Ok(Some(Retried::KeyTaken(holder)))) => told.push((id, holder)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(queued.len(), 1);
    assert!(
        told.iter()
            .all(|(id, holder)| *holder == queued[0] && (id == holder) == (*id == queued[0]))
    );
    assert_eq!(
        list(&*store, Some("task"), &[Ready], i64::MAX, 9).await,
        queued
    );
}

pub(crate) async fn a_retry_is_announced(world: &World) {
    let Some(([one, _], mut watch)) = watch(world, "steered_").await else {
        return;
    };
    let id = enqueue(
        &*one,
        NewJob {
            due: Due::At(one.now().await.unwrap() + 600 * SECOND),
            ..new("task")
        },
    )
    .await
    .id();
    watch.next().await;
    one.retry(id).await.unwrap();
    watch.next().await;
    let claim = claim_one(&*one, "task", LONG).await;
    one.release(from_ref(&claim.key)).await.unwrap();
    watch.next().await;
}
