//! Standing jobs: one for each task, under its present schedule.

mod changed;
mod renamed;

use std::sync::Arc;

use tasklock_runtime::Next;
use tasklock_runtime::store::{Finish, Passed};
use tokio::sync::Barrier;

pub(crate) use changed::{
    a_new_schedule_leaves_what_is_due, a_new_schedule_moves_a_waiting_job,
    a_new_schedule_takes_over_after_the_run, each_version_is_run_once_at_its_start,
    it_is_known_when_a_slot_was_begun, what_comes_while_it_is_declared_is_computed_anew,
};
pub(crate) use renamed::{
    a_former_name_gives_its_row, a_row_beside_its_new_name_goes,
    jobs_get_the_new_name_whoever_runs_them,
};

use crate::steps::{
    LONG, SECOND, claim, claim_all, claim_one, end, finish, held, job, row, sorted, standing, task,
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
    declared.if_new = Next::at(2 * SECOND);
    declared.if_changed = Next::at(3 * SECOND);
    world.store().await.declare(&[declared]).await.unwrap();
    assert_eq!(observer.see(job).await, before);
    assert_eq!(row(&*store, job).await.due_at, Some(SECOND));
}

/// Slots that passed without a run of their own are counted on the job.
pub(crate) async fn passed_slots_are_counted(world: &World) {
    let store = world.store().await;
    let mut claim = held(&*store, "task", LONG).await;
    let passed = |missed, skipped| Passed {
        missed,
        skipped,
        ..Passed::default()
    };
    for (nth, passed) in (0..).zip([
        passed(0, 0),
        passed(3, 0),
        passed(0, u32::MAX),
        passed(4, 5),
    ]) {
        let ended = Finish {
            passed,
            ..end(
                &claim.key,
                Next::At {
                    slot: nth,
                    due: nth + 5,
                },
            )
        };
        finish(&*store, ended).await;
        let found = standing(&*store, "task").await;
        assert_eq!((found.slot_at, found.due_at), (Some(nth), Some(nth + 5)));
        claim = claim_one(&*store, "task", LONG).await;
        assert_eq!((claim.slot_at, claim.due_at), (Some(nth), nth + 5));
    }
    let job = job(&*store, claim.key.job).await;
    assert_eq!((job.missed, job.skipped), (7, u64::from(u32::MAX) + 5));
    assert_eq!(job.schedule.as_deref(), Some("every 1m"));
    assert_eq!(job.slot_at.map(|at| at.as_microsecond()), Some(3));
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
