//! Leases that are given back.

use crate::steps::{
    LONG, NONE, SHORT, claim, claim_all, claim_one, declare_many, forgeries, held, jobs, renewal,
    renewer, row, sorted, taken_over,
};
use crate::world::World;
use std::slice::from_ref;

pub(crate) async fn due_as_before_and_the_attempt_unused(world: &World) {
    let store = world.store().await;
    let first = held(&*store, "task", LONG).await;
    assert_eq!(
        store.release(from_ref(&first.key)).await.unwrap(),
        [first.key.job]
    );
    let free = row(&*store, first.key.job).await;
    assert!(
        !free.running && free.owner.is_none() && free.left.is_none(),
        "{free:?}"
    );
    assert_eq!(
        (free.due_at, free.fence),
        (Some(first.due_at), first.key.fence)
    );
    assert_eq!(
        (free.attempt, free.crashes, free.last_outcome),
        (0, 0, None)
    );
    assert_eq!(store.release(&[first.key]).await.unwrap(), NONE, "once");

    // An attempt that crashed stays counted when the one after it is given back.
    let again = claim_one(&*store, "task", SHORT).await;
    assert_eq!((again.attempt, again.due_at), (1, first.due_at));
    let taken = taken_over(&*store, "task", LONG).await;
    assert_eq!(taken.attempt, 2);
    store.release(from_ref(&taken.key)).await.unwrap();
    let free = row(&*store, taken.key.job).await;
    assert_eq!(
        (free.attempt, free.crashes, free.due_at),
        (1, 1, Some(first.due_at))
    );
    assert_eq!(claim_one(&*store, "task", LONG).await.attempt, 2);
}

pub(crate) async fn a_renewed_lease_is_free_at_once(world: &World) {
    let (one, two) = (world.store().await, world.store().await);
    let held = held(&*one, "task", LONG).await;
    let mut renewer = renewer(&*one).await;
    renewer
        .renew(&[renewal(&held.key, 10 * LONG)])
        .await
        .unwrap();
    one.release(from_ref(&held.key)).await.unwrap();
    let next = claim_one(&*two, "task", SHORT).await;
    assert!(!next.takeover);
    // The former renewal does not count for the new lease.
    assert!(row(&*two, held.key.job).await.left <= Some(SHORT));
    assert_eq!(
        renewer.renew(&[renewal(&held.key, LONG)]).await.unwrap(),
        NONE
    );
    taken_over(&*one, "task", LONG).await;
}

pub(crate) async fn only_by_the_owner_with_its_fence(world: &World) {
    let store = world.store().await;
    let held = held(&*store, "task", LONG).await;
    let mut observer = world.observer().await;
    let before = observer.see(held.key.job).await;
    assert_eq!(store.release(&forgeries(&held.key)).await.unwrap(), NONE);
    assert_eq!(store.release(&[]).await.unwrap(), NONE);
    assert_eq!(observer.see(held.key.job).await, before);

    let tasks = declare_many(&*store, 5).await;
    let claims = claim_all(&*store, &tasks, LONG).await;
    let mut keys = forgeries(&held.key);
    keys.extend(claims[1..].iter().map(|claim| claim.key.clone()));
    assert_eq!(
        sorted(store.release(&keys).await.unwrap()),
        jobs(&claims[1..])
    );
    assert!(row(&*store, held.key.job).await.is_held_under(&held.key));
    assert!(
        row(&*store, claims[0].key.job)
            .await
            .is_held_under(&claims[0].key)
    );
}

pub(crate) async fn a_lost_claim_is_given_back_by_its_token(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 4).await;
    // The reply of the first is lost, so its jobs and fences are not known.
    let lost = claim(&*store, &tasks, LONG, 3).await.claims;
    let kept = claim_one(&*store, &tasks[3], LONG).await;
    let mut observer = world.observer().await;
    let before = observer.see(kept.key.job).await;
    assert_eq!(store.abandon(&lost[0].key.owner).await.unwrap(), 3);
    for claim in &lost {
        let free = row(&*store, claim.key.job).await;
        assert!(!free.running && free.owner.is_none(), "{free:?}");
        assert_eq!(
            (free.due_at, free.attempt, free.fence),
            (Some(claim.due_at), 0, claim.key.fence)
        );
    }
    assert_eq!(store.abandon(&lost[0].key.owner).await.unwrap(), 0);
    assert_eq!(observer.see(kept.key.job).await.row, before.row);
    assert!(row(&*store, kept.key.job).await.is_held_under(&kept.key));
    claim_all(&*store, &tasks[..3], LONG).await;
}
