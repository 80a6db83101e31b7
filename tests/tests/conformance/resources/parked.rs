//! Jobs that wait for their resource.

use std::time::Duration;

use tasklock_runtime::store::{Cancelled, Declaration, Pausable, Retried, Triggered};
use tasklock_runtime::{JobState, Next};

use super::{by_hand, end_run, need, needing, resource};
use crate::steps::{LONG, claim, end, expired, finish, job, request, task};
use crate::world::World;

/// A lease that two looks fit in, and whose expiry a test waits for.
const LASTS: Duration = Duration::from_secs(2);

pub(crate) async fn parked_jobs_are_seen_as_waiting(world: &World) {
    let store = world.store().await;
    let hand = by_hand(&*store, "a", LONG).await.unwrap();
    let id = need(&*store, "task", "a", 7).await;
    store
        .declare(&[Declaration {
            resource: Some("a".into()),
            ..task("standing", Some(1))
        }])
        .await
        .unwrap();
    let tasks = ["task", "standing"];
    assert!(claim(&*store, &tasks, LONG, 9).await.claims.is_empty());
    let parked = job(&*store, id).await;
    assert_eq!(parked.due_at.unwrap().as_microsecond(), 7);
    assert_eq!(store.retry(id).await.unwrap(), Some(Retried::AlreadyQueued));
    let triggered = store.trigger("standing").await.unwrap();
    assert_eq!(triggered, Some(Triggered::AlreadyQueued));
    assert_eq!(store.cancel(id).await.unwrap(), Some(Cancelled::Now));
    let cancelled = job(&*store, id).await;
    assert_eq!(cancelled.state, JobState::Cancelled);
    assert_eq!(cancelled.due_at.unwrap().as_microsecond(), 7);
    store.release(&[hand]).await.unwrap();
    let claims = claim(&*store, &tasks, LONG, 9).await.claims;
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].task, "standing");
    // Cancelled means that it can be had again.
    assert_eq!(store.retry(id).await.unwrap(), Some(Retried::Queued));
    end_run(&*store, &claims[0]).await;
    let claims = claim(&*store, &tasks, LONG, 9).await.claims;
    assert_eq!(claims[0].key.job, id);
}

/// Thousands that wait for one name cost the others a few looks at most.
pub(crate) async fn a_busy_name_does_not_hold_up_others(world: &World) {
    let store = world.store().await;
    by_hand(&*store, "busy", LONG).await.unwrap();
    let busy: Vec<_> = (0..4_500).map(|due| needing("task", "busy", due)).collect();
    store.enqueue(&busy).await.unwrap();
    let free: Vec<_> = (0..40)
        .map(|nth| needing("task", &format!("free {nth}"), 1_000_000 + nth))
        .collect();
    store.enqueue(&free).await.unwrap();
    let mut found = 0;
    for look in 0.. {
        let batch = claim(&*store, &["task"], LONG, 8).await;
        assert!(
            batch
                .claims
                .iter()
                .all(|claim| resource(claim).name != "busy")
        );
        found += batch.claims.len();
        if found == 40 {
            break;
        }
        assert!(look < 12, "{found} of 40 found in {look} looks");
    }
}

pub(crate) async fn a_paused_task_does_not_hold_up_others(world: &World) {
    let store = world.store().await;
    need(&*store, "paused", "a", 1).await;
    need(&*store, "paused", "a", 2).await;
    let id = need(&*store, "task", "a", 3).await;
    let tasks = ["paused", "task"];
    let first = claim(&*store, &tasks, LONG, 9).await.claims.remove(0);
    assert_eq!(first.task, "paused");
    assert!(claim(&*store, &tasks, LONG, 9).await.claims.is_empty());
    store
        .pause(&Pausable::Task("paused".into()), true)
        .await
        .unwrap();
    end_run(&*store, &first).await;
    let claims = claim(&*store, &tasks, LONG, 9).await.claims;
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].key.job, id);
}

pub(crate) async fn a_cancelled_one_does_not_hold_up_others(world: &World) {
    let store = world.store().await;
    let hand = by_hand(&*store, "a", LONG).await.unwrap();
    let first = need(&*store, "task", "a", 1).await;
    let second = need(&*store, "task", "a", 2).await;
    assert!(claim(&*store, &["task"], LONG, 9).await.claims.is_empty());
    store.release(&[hand]).await.unwrap();
    // The first one is due again, and gone before anybody looks.
    assert_eq!(store.cancel(first).await.unwrap(), Some(Cancelled::Now));
    let claims = claim(&*store, &["task"], LONG, 9).await.claims;
    assert_eq!(claims[0].key.job, second);
}

pub(crate) async fn whose_holder_died_is_found(world: &World) {
    let store = world.store().await;
    let hand = by_hand(&*store, "a", LASTS).await.unwrap();
    let id = need(&*store, "task", "a", 1).await;
    let batch = claim(&*store, &["task"], LONG, 9).await;
    assert!(batch.claims.is_empty());
    assert!(batch.wait.unwrap() <= Duration::from_secs(1), "{batch:?}");
    expired(&*store, hand.job).await;
    let claims = claim(&*store, &["task"], LONG, 9).await.claims;
    assert_eq!(claims[0].key.job, id);
    assert!(resource(&claims[0]).key.fence > hand.fence);
    // Nobody else's tasks are waited for.
    let nobody = request(&["another"], LONG, 9);
    assert_eq!(store.claim(&nobody).await.unwrap().wait, None);
}

pub(crate) async fn a_changed_resource_counts_for_what_waits(world: &World) {
    let store = world.store().await;
    by_hand(&*store, "a", LONG).await.unwrap();
    let declared = |name: Option<&str>| Declaration {
        resource: name.map(str::to_owned),
        ..task("standing", Some(1))
    };
    store.declare(&[declared(Some("a"))]).await.unwrap();
    assert!(
        claim(&*store, &["standing"], LONG, 9)
            .await
            .claims
            .is_empty()
    );
    store.declare(&[declared(Some("b"))]).await.unwrap();
    let first = claim(&*store, &["standing"], LONG, 9)
        .await
        .claims
        .remove(0);
    assert_eq!((resource(&first).name.as_str(), first.due_at), ("b", 1));
    store
        .release(&[resource(&first).key.clone()])
        .await
        .unwrap();
    finish(&*store, end(&first.key, Next::at(5))).await;
    store.declare(&[declared(None)]).await.unwrap();
    let second = claim(&*store, &["standing"], LONG, 9)
        .await
        .claims
        .remove(0);
    assert_eq!((second.resource, second.due_at), (None, 5));
}
