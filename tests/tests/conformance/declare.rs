//! Standing jobs: one for each task, under its present schedule.

use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

use tasklock_runtime::Next;
use tasklock_runtime::store::{Counts, Declaration, Finish, Passed, Store, Then};
use tokio::sync::Barrier;

use crate::steps::{
    LONG, SECOND, claim, claim_all, claim_one, declare_due, end, finish, held, job, next, renewal,
    renewer, row, sorted, standing, task, then,
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

fn rescheduled(schedule: &str, slot: Option<i64>) -> Declaration {
    Declaration {
        schedule: schedule.to_owned(),
        if_changed: next(slot),
        ..task("task", Some(9 * SECOND))
    }
}

/// So many seconds after this look at the store's clock.
async fn in_an_hour(store: &dyn Store, seconds: i64) -> i64 {
    store.now().await.unwrap() + (3_600 + seconds) * SECOND
}

pub(crate) async fn a_new_schedule_moves_a_waiting_job(world: &World) {
    let store = world.store().await;
    let later = in_an_hour(&*store, 0).await;
    let others = [task("other", Some(7)), task("task", Some(later))];
    store.declare(&others).await.unwrap();
    let job = standing(&*store, "task").await.job;

    for (schedule, slot) in [
        ("every 5s", Some(later + 2 * SECOND)),
        ("on demand", None),
        ("cron 0 3 * * *", Some(later + 3 * SECOND)),
    ] {
        let changed = rescheduled(schedule, slot);
        store.declare(from_ref(&changed)).await.unwrap();
        let moved = standing(&*store, "task").await;
        let found = (moved.job, moved.due_at, moved.slot_at);
        assert_eq!(found, (job, slot, slot), "{schedule}");
        // It is remembered: the next start changes nothing.
        let later = Declaration {
            if_changed: Next::at(later + 8 * SECOND),
            ..changed
        };
        store.declare(&[later]).await.unwrap();
        assert_eq!(standing(&*store, "task").await.due_at, slot, "{schedule}");
    }
    assert_eq!(standing(&*store, "other").await.due_at, Some(7));
    // With jitter it falls due after its slot; a delay counts from now.
    let mut changed = rescheduled("every 1h", None);
    let (slot, due) = (later, later + 9);
    changed.if_changed = Next::At { slot, due };
    store.declare(from_ref(&changed)).await.unwrap();
    let moved = standing(&*store, "task").await;
    assert_eq!((moved.slot_at, moved.due_at), (Some(slot), Some(due)));
    let before = store.now().await.unwrap();
    changed.schedule = "after 10m".to_owned();
    changed.if_changed = Next::In(Duration::from_secs(600));
    store.declare(&[changed]).await.unwrap();
    let moved = standing(&*store, "task").await;
    let after = store.now().await.unwrap();
    let delayed = before + 600 * SECOND..=after + 600 * SECOND;
    assert!(delayed.contains(&moved.due_at.unwrap()) && moved.slot_at == moved.due_at);
}

/// A slot that was missed while the new version was deployed is not forgotten, nor is a trigger, nor a further attempt.
pub(crate) async fn a_new_schedule_leaves_what_is_due(world: &World) {
    let store = world.store().await;
    let later = in_an_hour(&*store, 0).await;
    let declared = [task("task", Some(SECOND)), task("asked for", Some(later))];
    store.declare(&declared).await.unwrap();
    store.trigger("asked for").await.unwrap();
    let hourly = |name: &str| Declaration::new(name, "every 1h", Next::at(later + SECOND));
    let off = |name: &str| Declaration::new(name, "on demand", Next::Dormant);

    store
        .declare(&[hourly("task"), hourly("asked for")])
        .await
        .unwrap();
    let late = claim_one(&*store, "task", LONG).await;
    assert_eq!((late.slot_at, late.due_at), (Some(SECOND), SECOND));
    assert_eq!(late.schedule.as_deref(), Some("every 1h"));
    let again = then(&late.key, Then::Again(LONG, Counts::Attempt));
    finish(&*store, again).await;
    let waiting = standing(&*store, "task").await;
    let minutely = Declaration::new("task", "every 1m", Next::at(9));
    store.declare(&[minutely]).await.unwrap();
    let found = standing(&*store, "task").await;
    assert_eq!(
        (found.due_at, found.slot_at),
        (waiting.due_at, Some(SECOND))
    );

    // Without a schedule there is no slot to make up for; what was asked for is made.
    store
        .declare(&[off("task"), off("asked for")])
        .await
        .unwrap();
    assert_eq!(standing(&*store, "task").await.due_at, None);
    let extra = claim_one(&*store, "asked for", LONG).await;
    assert_eq!(extra.slot_at, Some(later));
    assert!(extra.due_at < later);
}

/// The run is its owner's, and ends as usual. Only what comes after it is the new version's.
pub(crate) async fn a_new_schedule_takes_over_after_the_run(world: &World) {
    let store = world.store().await;
    let later = in_an_hour(&*store, 0).await;
    let cases = [
        ("every 5s", Next::at(later), Some(later)),
        ("on demand", Next::Dormant, None),
    ];
    for (schedule, next, expected) in cases {
        let held = held(&*store, schedule, LONG).await;
        let changed = [Declaration::new(schedule, schedule, next)];
        store.declare(&changed).await.unwrap();
        let running = row(&*store, held.key.job).await;
        assert!(running.is_held_under(&held.key));
        assert_eq!((running.due_at, running.slot_at), (Some(1), Some(1)));
        let mut observer = world.observer().await;
        let before = observer.see(held.key.job).await;
        store.declare(&changed).await.unwrap();
        assert_eq!(observer.see(held.key.job).await, before, "once is enough");

        // A further attempt is one at the old slot; given back, it is so too.
        let again = then(&held.key, Then::Again(Duration::ZERO, Counts::Attempt));
        finish(&*store, again).await;
        let second = claim_one(&*store, schedule, LONG).await;
        assert_eq!((second.slot_at, second.attempt), (Some(1), 2));
        store.release(from_ref(&second.key)).await.unwrap();
        let third = claim_one(&*store, schedule, LONG).await;
        assert_eq!(
            (third.slot_at, third.schedule.as_deref()),
            (Some(1), Some(schedule))
        );

        // Its owner says what it knows.
        let ends = [end(&third.key, Next::at(4 * SECOND))];
        assert_eq!(store.finish(&ends).await.unwrap(), [third.key.job]);
        let found = standing(&*store, schedule).await;
        assert_eq!(
            (found.due_at, found.slot_at),
            (expected, expected),
            "{schedule}"
        );

        // It counts for one run.
        store.trigger(schedule).await.unwrap();
        let extra = claim_one(&*store, schedule, LONG).await;
        finish(&*store, end(&extra.key, Next::at(5))).await;
        assert_eq!(standing(&*store, schedule).await.due_at, Some(5));
    }
    let held = held(&*store, "task", LONG).await;
    let delay = Duration::from_secs(600);
    let changed = [Declaration::new("task", "after 10m", Next::In(delay))];
    store.declare(&changed).await.unwrap();
    let before = store.now().await.unwrap();
    finish(&*store, end(&held.key, Next::at(4 * SECOND))).await;
    let found = standing(&*store, "task").await;
    let after = store.now().await.unwrap();
    let delayed = before + 600 * SECOND..=after + 600 * SECOND;
    assert!(delayed.contains(&found.due_at.unwrap()) && found.slot_at == found.due_at);
}

/// One that was run before is not new: somebody has gone back to it.
pub(crate) async fn each_version_is_run_once_at_its_start(world: &World) {
    let store = world.store().await;
    let later = in_an_hour(&*store, 0).await;
    let version = |name: &str| Declaration {
        version: Some(name.to_owned()),
        ..task("task", Some(later))
    };
    for name in ["one", "two", "three"] {
        store.declare(&[version(name)]).await.unwrap();
        store.declare(&[version(name)]).await.unwrap();
        let start = claim_one(&*store, "task", LONG).await;
        assert_eq!(start.slot_at, Some(later), "the slot is still to come");
        finish(&*store, end(&start.key, Next::at(later))).await;
        store
            .declare(&[version(name), version("one")])
            .await
            .unwrap();
        assert!(claim(&*store, &["task"], LONG, 1).await.claims.is_empty());
    }
    // While a run is under way, the new version's comes after it.
    store.trigger("task").await.unwrap();
    let held = claim_one(&*store, "task", LONG).await;
    store.declare(&[version("four")]).await.unwrap();
    finish(&*store, end(&held.key, Next::at(later))).await;
    claim_one(&*store, "task", LONG).await;
}

/// The row itself goes over to the new name, and the lease on it with it.
pub(crate) async fn a_former_name_gives_its_row(world: &World) {
    let store = world.store().await;
    let held = held(&*store, "old", LONG).await;
    let renamed = [Declaration {
        aliases: vec!["older".to_owned(), "old".to_owned()],
        ..task("new", Some(7))
    }];
    store.declare(&renamed).await.unwrap();
    assert_eq!(store.standing("old").await.unwrap(), None);
    let found = standing(&*store, "new").await;
    assert!(found.is_held_under(&held.key));
    let mut renewer = renewer(&*store).await;
    let renewed = renewer.renew(&[renewal(&held.key, LONG)]).await;
    assert_eq!(renewed.unwrap(), [held.key.job]);
    finish(&*store, end(&held.key, Next::at(8))).await;

    // An old version starts once more: its row goes with the next start of a new one, unless it runs.
    declare_due(&*store, &["old"]).await;
    store.declare(&renamed).await.unwrap();
    assert_eq!(store.standing("old").await.unwrap(), None);
    assert_eq!(standing(&*store, "new").await.job, held.key.job);
    let old = self::held(&*store, "old", LONG).await;
    store.declare(&renamed).await.unwrap();
    assert!(standing(&*store, "old").await.is_held_under(&old.key));
    let claims = claim_all(&*store, &["new"], LONG).await;
    assert_eq!(claims[0].key.fence, held.key.fence + 1);
}

/// Slots that passed without a run of their own are counted on the job.
pub(crate) async fn passed_slots_are_counted(world: &World) {
    let store = world.store().await;
    let mut claim = held(&*store, "task", LONG).await;
    let passed = |missed, skipped| Passed { missed, skipped };
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
