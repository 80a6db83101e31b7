//! The ends of runs.

use std::time::Duration;

use tasklock_runtime::Next;
use tasklock_runtime::store::{Finish, MAX_BATCH};

use crate::steps::{
    LONG, NONE, SECOND, SHORT, claim_all, claim_one, declare_many, end, forgeries, held, jobs, row,
    sorted, taken_over,
};
use crate::world::World;

pub(crate) async fn the_job_is_due_when_it_was_told(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 4).await;
    let claims = claim_all(&*store, &tasks, LONG).await;
    // In the year 2100, to the microsecond; and before 1970.
    let (late, early) = (4_102_444_800_123_456, -12_345_678);
    let minute = Duration::from_secs(60);
    let nexts = [
        Next::at(late),
        Next::at(early),
        Next::In(minute),
        Next::Dormant,
    ];
    let ends: Vec<_> = claims
        .iter()
        .zip(nexts)
        .map(|(claim, next)| end(&claim.key, next))
        .collect();

    let before = store.now().await.unwrap();
    assert_eq!(sorted(store.finish(&ends).await.unwrap()), jobs(&claims));
    let after = store.now().await.unwrap();
    let mut due = Vec::new();
    for claim in &claims {
        let row = row(&*store, claim.key.job).await;
        assert!(
            !row.running && row.owner.is_none() && row.left.is_none(),
            "{row:?}"
        );
        assert_eq!((row.fence, row.attempt), (claim.key.fence, 0));
        assert_eq!(
            (row.last_outcome.as_deref(), row.last_error),
            (Some("succeeded"), None)
        );
        due.push(row.due_at);
    }
    assert_eq!(due[..2], [Some(late), Some(early)]);
    let delayed = due[2].unwrap();
    let (least, most) = (before + 60 * SECOND, after + 60 * SECOND);
    assert!(
        (least..=most).contains(&delayed),
        "{delayed} not in {least}..={most}"
    );
    assert_eq!(due[3], None);
}

pub(crate) async fn any_text_is_kept(world: &World) {
    let store = world.store().await;
    let mut held = held(&*store, "task", LONG).await;
    let long = "ä".repeat(2_048);
    for text in [
        "",
        "a NUL \0 inside, and at the end\0",
        "'quoted', \"twice\", `so`, $1 ?1 :a @b {s}{p} \\ \\' %s %",
        "'); DROP TABLE tasklock_job; --",
        "tabs\t, lines\r\n, bells\u{7} and escapes\u{1b}[31m",
        "\u{feff}\u{202e}right to left\u{2069} 👩‍👩‍👧 e\u{301} \u{d7ff}\u{e000}\u{fffe}\u{ffff}\u{10ffff}",
        "null",
        "1e3",
        "[1, {\"json\": true}]",
        "{a,NULL,\"b\"}",
        &long,
    ] {
        let ends = [Finish {
            outcome: "failed",
            error: Some(text.to_owned()),
            ..end(&held.key, Next::at(1))
        }];
        assert_eq!(
            store.finish(&ends).await.unwrap(),
            [held.key.job],
            "{text:?}"
        );
        let row = row(&*store, held.key.job).await;
        assert_eq!(row.last_outcome.as_deref(), Some("failed"));
        // Not every database can hold a NUL; it must not cost the rest.
        let kept = row
            .last_error
            .expect("there was an error")
            .replace('\0', "\u{fffd}");
        assert_eq!(kept, text.replace('\0', "\u{fffd}"));
        held = claim_one(&*store, "task", LONG).await;
    }
    // The next success clears it.
    store
        .finish(&[end(&held.key, Next::Dormant)])
        .await
        .unwrap();
    assert_eq!(row(&*store, held.key.job).await.last_error, None);
}

pub(crate) async fn only_by_the_owner_with_its_fence(world: &World) {
    let store = world.store().await;
    let held = held(&*store, "task", LONG).await;
    let mut observer = world.observer().await;
    let before = observer.see(held.key.job).await;
    let forged: Vec<_> = forgeries(&held.key)
        .iter()
        .map(|key| end(key, Next::Dormant))
        .collect();
    assert_eq!(store.finish(&forged).await.unwrap(), NONE);
    assert_eq!(observer.see(held.key.job).await, before);
    let ends = [end(&held.key, Next::Dormant)];
    assert_eq!(
        world.store().await.finish(&ends).await.unwrap(),
        [held.key.job]
    );
}

pub(crate) async fn only_once(world: &World) {
    let store = world.store().await;
    let held = held(&*store, "task", LONG).await;
    assert_eq!(store.finish(&[]).await.unwrap(), NONE);
    let first = [end(&held.key, Next::at(5))];
    assert_eq!(store.finish(&first).await.unwrap(), [held.key.job]);
    let mut observer = world.observer().await;
    let before = observer.see(held.key.job).await;
    assert_eq!(store.finish(&first).await.unwrap(), NONE);
    let other = [end(&held.key, Next::Dormant)];
    assert_eq!(world.store().await.finish(&other).await.unwrap(), NONE);
    assert_eq!(observer.see(held.key.job).await, before);
}

pub(crate) async fn a_full_batch_in_one_call(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, MAX_BATCH + 1).await;
    let claims = claim_all(&*store, &tasks, LONG).await;
    let ends: Vec<_> = claims[1..]
        .iter()
        .map(|claim| Finish {
            error: Some(claim.task.clone()),
            ..end(&claim.key, Next::at(claim.key.job))
        })
        .collect();
    assert_eq!(
        sorted(store.finish(&ends).await.unwrap()),
        jobs(&claims[1..])
    );
    for row in store.inspect(&jobs(&claims[1..])).await.unwrap() {
        // Each its own.
        assert_eq!(
            (row.due_at, row.last_error),
            (Some(row.job), Some(row.task))
        );
    }
    assert!(
        row(&*store, claims[0].key.job)
            .await
            .is_held_under(&claims[0].key)
    );
}

/// A process may have lost a job and claimed it again while the first run is still going.
pub(crate) async fn a_batch_may_hold_a_spent_lease_of_the_same_job(world: &World) {
    let store = world.store().await;
    for (round, spent_first) in [true, false].into_iter().enumerate() {
        let name = format!("task {round}");
        let spent = held(&*store, &name, SHORT).await;
        let held = taken_over(&*store, &name, LONG).await;
        let mut ends = [
            Finish {
                outcome: "failed",
                error: Some("of the spent lease".to_owned()),
                ..end(&spent.key, Next::Dormant)
            },
            end(&held.key, Next::at(77)),
        ];
        if !spent_first {
            ends.reverse();
        }
        assert_eq!(store.finish(&ends).await.unwrap(), [held.key.job]);
        let row = row(&*store, held.key.job).await;
        assert_eq!(
            (row.due_at, row.last_error),
            (Some(77), None),
            "spent first: {spent_first}"
        );
    }
}
