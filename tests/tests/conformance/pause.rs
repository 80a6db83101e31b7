//! Tasks and queues from which no run is started.

use std::time::Duration;

use tasklock_runtime::Pausable;
use tasklock_runtime::store::{ClaimBatch, Due, NewJob, Store, Wake};

use crate::steps::{
    LONG, SHORT, claim, declare_due, enqueue_due, expired, held, new, renewal, renewer, request,
    row, started, watch,
};
use crate::world::World;

fn both() -> [Pausable; 2] {
    [
        Pausable::Task("task".to_owned()),
        Pausable::Queue("slow".to_owned()),
    ]
}

/// `task` is in the queue `slow`, `other` in the default one.
async fn look(store: &dyn Store) -> ClaimBatch {
    let mut request = request(&["task", "other"], LONG, 9);
    request.tasks[0].queue = "slow".to_owned();
    store.claim(&request).await.unwrap()
}

pub(crate) async fn what_is_paused_starts_no_run(world: &World) {
    let (store, operator) = (world.store().await, world.store().await);
    for what in both() {
        enqueue_due(&*store, "task", 2).await;
        enqueue_due(&*store, "other", 1).await;
        assert!(operator.pause(&what, true).await.unwrap());
        let batch = look(&*store).await;
        assert_eq!(batch.claims.len(), 1);
        assert_eq!(batch.claims[0].task, "other");
        // Only the other's lease is waited for.
        assert!(batch.wait > Some(LONG / 2), "{batch:?}");
        store.release(&[batch.claims[0].key.clone()]).await.unwrap();
        // One worker's queue is not another's task, nor its name.
        let elsewhere = claim(&*store, &["slow"], LONG, 9).await;
        assert_eq!((elsewhere.claims.len(), elsewhere.wait), (0, None));

        assert!(operator.pause(&what, false).await.unwrap());
        let batch = look(&*store).await;
        assert_eq!(batch.claims.len(), 3);
        let ends: Vec<_> = (batch.claims.iter())
            .map(|claim| crate::steps::then(&claim.key, tasklock_runtime::store::Then::Done(None)))
            .collect();
        assert_eq!(store.finish(&ends).await.unwrap().len(), 3);
    }
}

pub(crate) async fn pausing_twice_is_pausing_once(world: &World) {
    let store = world.store().await;
    assert_eq!(store.paused().await.unwrap(), []);
    let [task, queue] = both();
    let namesake = Pausable::Queue("task".to_owned());
    for what in [&task, &queue, &namesake] {
        assert!(!store.pause(what, false).await.unwrap());
        assert!(store.pause(what, true).await.unwrap());
        assert!(!store.pause(what, true).await.unwrap());
    }
    let mut paused = world.store().await.paused().await.unwrap();
    paused.sort();
    let mut all = vec![task.clone(), namesake.clone(), queue.clone()];
    all.sort();
    assert_eq!(paused, all);
    // Paused as a task and by its queue: both have to be resumed.
    enqueue_due(&*store, "task", 1).await;
    assert!(store.pause(&task, false).await.unwrap());
    assert_eq!(look(&*store).await.claims, []);
    assert!(store.pause(&queue, false).await.unwrap());
    assert!(!store.pause(&queue, false).await.unwrap());
    assert_eq!(look(&*store).await.claims.len(), 1);
    assert_eq!(store.paused().await.unwrap(), [namesake]);
}

/// A run that is under way goes on, and nobody takes it over as long as the pause lasts.
pub(crate) async fn no_run_of_what_is_paused_is_taken_over(world: &World) {
    let store = world.store().await;
    for what in both() {
        let claim = started(&*store, "task", SHORT).await;
        store.pause(&what, true).await.unwrap();
        let mut renewer = renewer(&*store).await;
        let renewals = [renewal(&claim.key, SHORT)];
        let renewed = renewer.renew(&renewals).await.unwrap();
        assert_eq!(renewed, [claim.key.job]);
        expired(&*store, claim.key.job).await;
        let batch = look(&*store).await;
        assert_eq!((batch.claims, batch.wait), (Vec::new(), None));
        assert!(row(&*store, claim.key.job).await.is_held_under(&claim.key));
        store.pause(&what, false).await.unwrap();
        let claims = look(&*store).await.claims;
        assert!(claims.len() == 1 && claims[0].takeover);
        let end = crate::steps::then(&claims[0].key, tasklock_runtime::store::Then::Done(None));
        crate::steps::finish(&*store, end).await;
    }
}

pub(crate) async fn a_pause_is_not_waited_for(world: &World) {
    let store = world.store().await;
    let later = NewJob {
        due: Due::In(Duration::from_secs(5)),
        ..new("task")
    };
    store.enqueue(&[later]).await.unwrap();
    declare_due(&*store, &["task"]).await;
    for what in both() {
        store.pause(&what, true).await.unwrap();
        let batch = look(&*store).await;
        assert_eq!((batch.claims, batch.wait), (Vec::new(), None));
        store.pause(&what, false).await.unwrap();
    }
    assert_eq!(look(&*store).await.claims.len(), 1);
}

pub(crate) async fn a_resumed_task_is_announced(world: &World) {
    let Some(([one, two], mut watch)) = watch(world, "paused_").await else {
        return;
    };
    for what in both() {
        one.pause(&what, true).await.unwrap();
        assert!(two.paused().await.unwrap().contains(&what));
        if !world.locks_rows() {
            // Each change of the file is seen.
            watch.next().await;
        }
        one.pause(&what, false).await.unwrap();
        assert_eq!(watch.next().await, Wake::Work);
        while !watch.is_quiet() {
            watch.next().await;
        }
    }
    held(&*one, "task", LONG).await;
}
