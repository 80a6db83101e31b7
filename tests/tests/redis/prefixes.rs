//! Two prefixes in one database know nothing of each other.

use std::slice::from_ref;

use tasklock_runtime::StoreErrorKind;
use tasklock_test_support::redis::place;

use crate::steps::{acquire, claim, done, job, open, standing};

#[tokio::test]
async fn they_know_nothing_of_each_other() {
    let Some(place) = place().await else {
        return;
    };
    // One begins as the other does, and goes on.
    let (one, other) = (place.prefix().to_owned(), format!("{}b", place.prefix()));
    let one = open(place.url(), Some(&one)).await.expect("it is there");
    let other = open(place.url(), Some(&other)).await.expect("it is there");
    one.migrate().await.expect("it answers");
    let refused = other
        .check_schema()
        .await
        .expect_err("its keys are missing");
    assert_eq!(refused.kind(), StoreErrorKind::Schema);
    other.migrate().await.expect("it answers");

    one.declare(&[standing("task")]).await.expect("it answers");
    one.enqueue(&[job("jobs")]).await.expect("it answers");
    assert_eq!(other.standing("task").await.expect("it answers"), None);
    assert!(claim(&*other, "jobs", 9).await.is_empty());
    let held = claim(&*one, "task", 1).await.remove(0);
    assert_eq!(other.abandon(&held.key.owner).await.expect("it answers"), 0);
    assert!(
        other
            .finish(&[done(&held.key)])
            .await
            .expect("it answers")
            .is_empty()
    );

    let name = acquire(&*one, "name").await.expect("it is free");
    let theirs = acquire(&*other, "name")
        .await
        .expect("theirs is another one");
    assert!(
        one.release(from_ref(&theirs))
            .await
            .expect("it answers")
            .is_empty()
    );
    assert_eq!(
        one.release(from_ref(&name)).await.expect("it answers"),
        [name.job]
    );
}
