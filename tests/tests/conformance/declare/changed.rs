//! What a start makes of a job that is there under another schedule, and of another version.

use std::slice::from_ref;
use std::time::Duration;

use tasklock_runtime::Next;
use tasklock_runtime::store::{Claim, Counts, Declaration, Finish, Passed, Store, Then};

use crate::steps::{
    LONG, SECOND, SHORT, claim, claim_one, end, enqueue, finish, held, new, next, row, standing,
    taken_over, task, then,
};
use crate::world::World;

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
    let next = Next::At {
        slot: later + SECOND,
        due: later + 9 * SECOND,
    };
    let hourly = |name: &str| Declaration::new(name, "every 1h", next);
    let off = |name: &str| Declaration::new(name, "on demand", Next::Dormant);

    store
        .declare(&[hourly("task"), hourly("asked for")])
        .await
        .unwrap();
    let late = claim_one(&*store, "task", LONG).await;
    assert_eq!((late.slot_at, late.due_at), (Some(SECOND), SECOND));
    assert_eq!(late.schedule.as_deref(), Some("every 1h"));
    assert_eq!(late.follows, Some(next));
    let again = then(&late.key, Then::Again(LONG, Counts::Attempt));
    finish(&*store, again).await;
    let waiting = standing(&*store, "task").await;
    let back = Next::at(later + 7);
    let minutely = Declaration::new("task", "every 1m", back);
    store.declare(&[minutely]).await.unwrap();
    let found = standing(&*store, "task").await;
    let found = (found.due_at, found.slot_at, found.attempt);
    assert_eq!(found, (waiting.due_at, Some(SECOND), 1));
    store.trigger("task").await.unwrap();
    let second = claim_one(&*store, "task", LONG).await;
    assert_eq!(second.follows, Some(back), "the last one counts");
    // Whoever has been told what follows knows better.
    let told = Finish {
        passed: Passed {
            follows: second.follows,
            ..Passed::default()
        },
        ..end(&second.key, Next::at(later + 5))
    };
    finish(&*store, told).await;
    let found = standing(&*store, "task").await;
    assert_eq!(
        (found.due_at, found.slot_at),
        (Some(later + 5), Some(later + 5))
    );

    // An extra run is one beside the new schedule's slots.
    let extra = claim_one(&*store, "asked for", LONG).await;
    assert_eq!((extra.slot_at, extra.follows), (Some(later + SECOND), None));
    assert!(extra.due_at < later);
    store.release(from_ref(&extra.key)).await.unwrap();

    // Without a schedule there is no slot to make up for; what was asked for is made.
    store
        .declare(&[off("task"), off("asked for")])
        .await
        .unwrap();
    assert_eq!(standing(&*store, "task").await.due_at, None);
    let extra = claim_one(&*store, "asked for", LONG).await;
    assert_eq!(extra.slot_at, None);
}

/// What was given back, put off, or failed, was claimed before, and it is known when for the first time.
pub(crate) async fn it_is_known_when_a_slot_was_begun(world: &World) {
    let store = world.store().await;
    let before = store.now().await.unwrap();
    let first = held(&*store, "task", LONG).await;
    let begun = first.begun_at.unwrap();
    assert!((before..=store.now().await.unwrap()).contains(&begun));
    store.release(from_ref(&first.key)).await.unwrap();
    let mut claim = claim_one(&*store, "task", LONG).await;
    for counts in [Counts::Nothing, Counts::Refusal, Counts::Attempt] {
        assert_eq!(claim.begun_at, Some(begun), "{counts:?}");
        // It goes on for a later slot.
        let later = Finish {
            passed: Passed {
                slot: Some(claim.slot_at.unwrap() + 1),
                ..Passed::default()
            },
            ..then(&claim.key, Then::Again(Duration::ZERO, counts))
        };
        finish(&*store, later).await;
        let again = claim_one(&*store, "task", LONG).await;
        assert_eq!(again.slot_at, claim.slot_at.map(|slot| slot + 1));
        claim = again;
    }
    let between = store.now().await.unwrap();
    finish(&*store, end(&claim.key, Next::at(9))).await;
    let next = claim_one(&*store, "task", SHORT).await;
    assert!(next.begun_at.unwrap() >= between && next.attempt == 1);
    let next = Claim {
        key: taken_over(&*store, "task", LONG).await.key,
        ..next
    };
    // What is moved starts anew.
    finish(&*store, then(&next.key, Then::Again(LONG, Counts::Attempt))).await;
    let waiting = store.now().await.unwrap();
    for (schedule, next) in [
        ("on demand", Next::Dormant),
        ("every 1h", Next::In(Duration::ZERO)),
    ] {
        let changed = Declaration::new("task", schedule, next);
        store.declare(&[changed]).await.unwrap();
    }
    let moved = claim_one(&*store, "task", LONG).await;
    assert!(moved.begun_at.unwrap() >= waiting && moved.attempt == 1 && moved.crashes == 0);
    // A job that was enqueued has no slots.
    enqueue(&*store, new("other")).await;
    assert_eq!(claim_one(&*store, "other", LONG).await.begun_at, None);
}

/// The run is its owner's, and ends as usual. Only what comes after it is the new version's.
pub(crate) async fn a_new_schedule_takes_over_after_the_run(world: &World) {
    let store = world.store().await;
    let later = in_an_hour(&*store, 0).await;
    let spread = Next::At {
        slot: later,
        due: later + 5,
    };
    let cases = [
        ("every 5s", spread, (Some(later + 5), Some(later))),
        ("on demand", Next::Dormant, (None, None)),
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
        assert_eq!((third.slot_at, third.follows), (Some(1), Some(next)));

        // Its owner says what it knows, which is not that.
        let ends = [end(&third.key, Next::at(4 * SECOND))];
        assert_eq!(store.finish(&ends).await.unwrap(), [third.key.job]);
        let found = standing(&*store, schedule).await;
        assert_eq!((found.due_at, found.slot_at), expected, "{schedule}");

        // It counts for one run.
        store.trigger(schedule).await.unwrap();
        let extra = claim_one(&*store, schedule, LONG).await;
        assert_eq!((extra.slot_at, extra.follows), (expected.1, None));
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
    let extra = claim_one(&*store, "task", LONG).await;
    assert_eq!(extra.slot_at, Some(later), "the slot is still to come");
    finish(&*store, end(&extra.key, Next::Dormant)).await;
    let dormant = standing(&*store, "task").await;
    assert_eq!((dormant.due_at, dormant.slot_at), (None, None), "and once");
}

/// A slot that was to be the next one has come before it was written: it may have been run under the old schedule. What is there
/// already stays as it is where it is only restored.
pub(crate) async fn what_comes_while_it_is_declared_is_computed_anew(world: &World) {
    let store = world.store().await;
    let later = in_an_hour(&*store, 0).await;
    store.declare(&[task("task", Some(later))]).await.unwrap();
    let now = store.now().await.unwrap();
    let late = Declaration {
        asked_at: now - 2 * SECOND,
        ..Declaration::new("task", "every 5s", Next::at(now - SECOND))
    };
    let restoring = Declaration {
        restores: true,
        ..Declaration::new("task", "every 5s", Next::at(later + 5))
    };
    assert!(store.declare(&[restoring]).await.unwrap());
    assert!(!store.declare(from_ref(&late)).await.unwrap());
    let found = standing(&*store, "task").await;
    assert_eq!((found.slot_at, found.due_at), (Some(later), Some(later)));
    let in_time = Declaration {
        asked_at: now,
        ..Declaration::new("task", "every 5s", Next::at(later + 5))
    };
    assert!(store.declare(&[in_time]).await.unwrap());
    assert_eq!(standing(&*store, "task").await.slot_at, Some(later + 5));
    // Nor does a slot come again that is run just now.
    let held = held(&*store, "other", LONG).await;
    let same = Declaration::new("other", "every 5s", Next::at(held.slot_at.unwrap()));
    store.declare(&[same]).await.unwrap();
    finish(&*store, end(&held.key, Next::at(9))).await;
    assert_eq!(standing(&*store, "other").await.slot_at, Some(9));
}
