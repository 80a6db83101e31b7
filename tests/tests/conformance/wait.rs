//! How long an idle worker may sleep.

use std::time::Duration;

use crate::steps::{
    LONG, SECOND, assert_about, claim, claim_one, declare_due, declare_many, renewal, renewer, task,
};
use crate::world::World;

/// No time at all, but for what a clock moves between two readings.
fn none_at_all(wait: Option<Duration>) -> bool {
    wait.is_some_and(|wait| wait < Duration::from_millis(10))
}

pub(crate) async fn none_without_anything_to_wait_for(world: &World) {
    let store = world.store().await;
    assert_eq!(claim(&*store, &["task"], LONG, 9).await.wait, None);
    store
        .declare(&[task("dormant", None), task("unknown", Some(1))])
        .await
        .unwrap();
    assert_eq!(
        claim(&*store, &["task", "dormant"], LONG, 9).await.wait,
        None
    );
    assert_eq!(claim(&*store, &[] as &[&str], LONG, 9).await.wait, None);
}

pub(crate) async fn until_the_next_is_due(world: &World) {
    let store = world.store().await;
    let now = store.now().await.unwrap();
    let tasks = [
        task("in an hour", Some(now + 3_600 * SECOND)),
        task("in ten minutes", Some(now + 600 * SECOND)),
        task("unknown", Some(1)),
    ];
    store.declare(&tasks).await.unwrap();
    let batch = claim(&*store, &["in an hour", "in ten minutes"], LONG, 9).await;
    assert!(batch.claims.is_empty());
    assert_about(batch.wait, Duration::from_secs(600));
}

pub(crate) async fn until_a_lease_expires_renewals_included(world: &World) {
    let store = world.store().await;
    declare_due(&*store, &["task", "unknown"]).await;
    claim_one(&*store, "unknown", LONG).await;
    let batch = claim(&*store, &["task"], 2 * LONG, 9).await;
    // Its own lease counts too: whoever asks may die.
    assert_about(batch.wait, 2 * LONG);
    let mut renewer = renewer(&*store).await;
    let key = &batch.claims[0].key;
    assert_eq!(
        renewer.renew(&[renewal(key, 20 * LONG)]).await.unwrap(),
        [key.job]
    );
    assert_about(claim(&*store, &["task"], LONG, 9).await.wait, 20 * LONG);
}

pub(crate) async fn until_whatever_comes_first(world: &World) {
    let store = world.store().await;
    let now = store.now().await.unwrap();
    declare_due(&*store, &["runs"]).await;
    claim_one(&*store, "runs", 2 * LONG).await;
    store
        .declare(&[task("waits", Some(now + 600 * SECOND))])
        .await
        .unwrap();
    assert_about(
        claim(&*store, &["runs", "waits"], LONG, 9).await.wait,
        2 * LONG,
    );
    store
        .declare(&[task("waits less", Some(now + 60 * SECOND))])
        .await
        .unwrap();
    let batch = claim(&*store, &["runs", "waits", "waits less"], LONG, 9).await;
    assert_about(batch.wait, Duration::from_secs(60));
}

pub(crate) async fn no_time_if_rows_were_left_behind(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 3).await;
    for (limit, left_behind) in [(0, true), (1, true), (1, true), (1, false)] {
        let batch = claim(&*store, &tasks, LONG, limit).await;
        assert_eq!(none_at_all(batch.wait), left_behind, "{batch:?}");
    }
}
