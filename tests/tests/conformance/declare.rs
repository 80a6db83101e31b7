//! Standing jobs: one for each task, under its present schedule.

use std::slice::from_ref;
use std::sync::Arc;

use tasklock_runtime::Next;
use tasklock_runtime::store::Declaration;
use tokio::sync::Barrier;

use crate::steps::{
    LONG, SECOND, claim, claim_all, claim_one, end, held, row, sorted, standing, task,
};
use crate::world::World;

pub(crate) async fn one_row_each_from_eight_declarers(world: &World) {
    let names: Vec<_> = (0..40).map(|number| format!("task {number}")).collect();
    let start = Arc::new(Barrier::new(8));
    let mut declaring = Vec::new();
    for (number, store) in world.stores(8).await.into_iter().enumerate() {
        let start = Arc::clone(&start);
        let mut declarations: Vec<_> = names.iter().map(|name| task(name, Some(1))).collect();
        // Each process in an order of its own.
        declarations.rotate_left(number * 5);
        declaring.push(tokio::spawn(async move {
            start.wait().await;
            store.declare(&declarations).await
        }));
    }
    for declared in declaring {
        declared.await.unwrap().unwrap();
    }

    let store = world.store().await;
    let claims = claim(&*store, &names, LONG, 1_000).await.claims;
    let found = sorted(claims.into_iter().map(|claim| claim.task).collect());
    assert_eq!(found, sorted(names));
}

pub(crate) async fn what_is_as_it_should_be_is_not_written(world: &World) {
    let store = world.store().await;
    let mut declared = task("task", Some(SECOND));
    store.declare(&[declared.clone()]).await.unwrap();
    let job = standing(&*store, "task").await.job;
    let mut observer = world.observer().await;
    let before = observer.see(job).await;

    // Later starts compute other instants, which count only for a new or a changed task.
    declared.if_new = Some(2 * SECOND);
    declared.if_changed = Some(3 * SECOND);
    world.store().await.declare(&[declared]).await.unwrap();
    assert_eq!(observer.see(job).await, before);
    assert_eq!(row(&*store, job).await.due_at, Some(SECOND));
}

fn rescheduled(schedule: &str, due: Option<i64>) -> Declaration {
    Declaration {
        schedule: schedule.to_owned(),
        if_changed: due,
        ..task("task", Some(9 * SECOND))
    }
}

pub(crate) async fn a_new_schedule_moves_a_waiting_job(world: &World) {
    let store = world.store().await;
    let others = [task("other", Some(7)), task("task", Some(SECOND))];
    store.declare(&others).await.unwrap();
    let job = standing(&*store, "task").await.job;

    for (schedule, due) in [
        ("every 5s", Some(2 * SECOND)),
        ("on demand", None),
        ("after 1s", Some(3 * SECOND)),
    ] {
        let changed = rescheduled(schedule, due);
        store.declare(from_ref(&changed)).await.unwrap();
        let moved = standing(&*store, "task").await;
        assert_eq!((moved.job, moved.due_at), (job, due), "{schedule}");
        // It is remembered: the next start changes nothing.
        let later = Declaration {
            if_changed: Some(8 * SECOND),
            ..changed
        };
        store.declare(&[later]).await.unwrap();
        assert_eq!(standing(&*store, "task").await.due_at, due, "{schedule}");
    }
    assert_eq!(standing(&*store, "other").await.due_at, Some(7));
}

pub(crate) async fn a_new_schedule_leaves_a_running_job_alone(world: &World) {
    let store = world.store().await;
    let held = held(&*store, "task", LONG).await;
    let mut observer = world.observer().await;
    let before = observer.see(held.key.job).await;
    let changed = [rescheduled("every 5s", Some(5 * SECOND))];
    store.declare(&changed).await.unwrap();
    assert_eq!(observer.see(held.key.job).await, before);

    // Its end is written by who started it; then the new schedule gets its turn.
    let ends = [end(&held.key, Next::At(4 * SECOND))];
    assert_eq!(store.finish(&ends).await.unwrap(), [held.key.job]);
    store.declare(&changed).await.unwrap();
    assert_eq!(standing(&*store, "task").await.due_at, Some(5 * SECOND));
    claim_one(&*store, "task", LONG).await;
}

pub(crate) async fn a_dormant_job_is_not_claimed(world: &World) {
    let store = world.store().await;
    store
        .declare(&[task("dormant", None), task("due", Some(1))])
        .await
        .unwrap();
    let claims = claim(&*store, &["dormant", "due"], LONG, 9).await.claims;
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].task, "due");
    assert_eq!(standing(&*store, "dormant").await.due_at, None);
    store.trigger("dormant").await.unwrap();
    claim_all(&*store, &["dormant"], LONG).await;
}
