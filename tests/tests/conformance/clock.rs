//! Whose clock it is.

use std::time::{SystemTime, UNIX_EPOCH};

use tasklock_runtime::Next;

use crate::steps::{BOUND, LONG, SECOND, assert_about, claim, end, row, task};
use crate::world::World;

fn workers_now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_micros()).unwrap()
}

/// Told apart from the worker's where it can be set, in `postgres_elsewhere`: there nothing would be
/// due, or everything expired, by a worker's clock.
pub(crate) async fn it_is_the_stores_own(world: &World) {
    let store = world.store().await;
    let ahead = world.ahead * SECOND;
    // A database may count in milliseconds, and clocks are slewed.
    let near = |found: i64, before: i64| {
        let least = before + ahead - 10_000;
        let most = workers_now() + ahead + 10_000;
        assert!(
            (least..=most).contains(&found),
            "{found} not in {least}..={most}"
        );
    };
    let before = workers_now();
    let now = store.now().await.unwrap();
    near(now, before);

    // A minute ago and in a minute by the store's clock.
    let tasks = [
        task("due", Some(now - 60 * SECOND)),
        task("waits", Some(now + 60 * SECOND)),
    ];
    store.declare(&tasks).await.unwrap();
    let before = workers_now();
    let batch = claim(&*store, &["due", "waits"], 2 * LONG, 9).await;
    near(batch.now, before);
    assert_eq!(batch.claims.len(), 1);
    assert_about(batch.wait, LONG);
    let key = &batch.claims[0].key;
    assert_about(row(&*store, key.job).await.left, 2 * LONG);

    let before = workers_now();
    store.finish(&[end(key, Next::In(LONG))]).await.unwrap();
    near(
        row(&*store, key.job).await.due_at.unwrap() - 60 * SECOND,
        before,
    );
    let before = workers_now();
    store.trigger("due").await.unwrap();
    near(row(&*store, key.job).await.due_at.unwrap(), before);
    assert!(BOUND < LONG, "or the spans above would prove nothing");
}
