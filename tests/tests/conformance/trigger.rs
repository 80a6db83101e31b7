//! Work on demand.

use std::sync::Arc;

use tasklock_runtime::{Next, Triggered};
use tokio::sync::Barrier;

use crate::steps::{LONG, SECOND, claim, claim_one, end, standing, task};
use crate::world::World;

pub(crate) async fn a_waiting_job_is_due_now(world: &World) {
    let store = world.store().await;
    let now = store.now().await.unwrap();
    let tasks = [
        task("dormant", None),
        task("in an hour", Some(now + 3_600 * SECOND)),
    ];
    store.declare(&tasks).await.unwrap();
    for name in ["dormant", "in an hour"] {
        assert!(claim(&*store, &[name], LONG, 1).await.claims.is_empty());
        assert_eq!(store.trigger(name).await.unwrap(), Some(Triggered::Queued));
        let due = standing(&*store, name).await.due_at.unwrap();
        let after = store.now().await.unwrap();
        assert!((now..=after).contains(&due), "{due} not in {now}..={after}");
        assert_eq!(claim_one(&*store, name, LONG).await.due_at, due);
    }
}

pub(crate) async fn it_says_what_it_found(world: &World) {
    let store = world.store().await;
    assert_eq!(store.trigger("task").await.unwrap(), None);
    store
        .declare(&[task("task", None), task("other", Some(5))])
        .await
        .unwrap();
    let job = standing(&*store, "task").await.job;
    let mut observer = world.observer().await;
    assert_eq!(
        store.trigger("task").await.unwrap(),
        Some(Triggered::Queued)
    );

    let queued = observer.see(job).await;
    for _ in 0..2 {
        assert_eq!(
            store.trigger("task").await.unwrap(),
            Some(Triggered::AlreadyQueued)
        );
        assert_eq!(observer.see(job).await, queued);
    }
    assert_eq!(
        store.trigger("other").await.unwrap(),
        Some(Triggered::AlreadyQueued)
    );
    assert_eq!(standing(&*store, "other").await.due_at, Some(5));

    let claim = claim_one(&*store, "task", LONG).await;
    let running = observer.see(job).await;
    assert_eq!(
        store.trigger("task").await.unwrap(),
        Some(Triggered::AlreadyRunning)
    );
    assert_eq!(observer.see(job).await, running);

    store
        .finish(&[end(&claim.key, Next::Dormant)])
        .await
        .unwrap();
    assert_eq!(
        store.trigger("task").await.unwrap(),
        Some(Triggered::Queued)
    );
    assert_eq!(store.trigger("no such task").await.unwrap(), None);
}

pub(crate) async fn one_of_sixteen_queues_it(world: &World) {
    let stores = world.stores(8).await;
    for round in 0..10 {
        let name = format!("task {round}");
        stores[0].declare(&[task(&name, None)]).await.unwrap();
        let start = Arc::new(Barrier::new(16));
        let mut triggering = Vec::new();
        for store in stores.iter().chain(&stores) {
            let (store, start, name) = (Arc::clone(store), Arc::clone(&start), name.clone());
            triggering.push(tokio::spawn(async move {
                start.wait().await;
                store.trigger(&name).await.unwrap()
            }));
        }
        let (mut queued, mut already) = (0, 0);
        for triggered in triggering {
            match triggered.await.unwrap() {
                Some(Triggered::Queued) => queued += 1,
                Some(Triggered::AlreadyQueued) => already += 1,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((queued, already), (1, 15), "round {round}");
    }
}
