//! A failover to a replica that has missed the last writes: what it breaks, and what it does not.

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection, Executor};
use std::str::FromStr;
use tasklock_runtime::store::Then;
use tasklock_runtime::{Dialect, FenceError, fence_table, fence_table_sql};
use tasklock_test_support::redis::Server;
use tasklock_test_support::sqlite;

use crate::steps::{acquire, claim, done, job, renewal, standing, store};

/// Two servers, the second of which follows the first.
async fn servers() -> Option<(Server, Server)> {
    let (primary, replica) = (Server::start().await?, Server::start().await?);
    Some((primary, replica))
}

/// Two hold one name: this is what asynchronous replication costs. The later one's fence is greater, and so are ids.
#[tokio::test]
async fn two_may_hold_a_lease_after_it_and_the_later_fence_is_greater() {
    let Some((primary, replica)) = servers().await else {
        return;
    };
    let before = store(primary.url()).await;
    before
        .declare(&[standing("task")])
        .await
        .expect("it answers");
    let name = acquire(&*before, "name").await.expect("it is free");
    before.release(&[name]).await.expect("it answers");
    replica.follow(primary.url()).await;
    // From here on nothing arrives there any more.
    replica.lead().await;
    let held = claim(&*before, "task", 1).await.remove(0);
    let name = acquire(&*before, "name").await.expect("it is free");
    let lost = before.enqueue(&[job("other")]).await.expect("it answers")[0].id();

    let after = store(replica.url()).await;
    let second = claim(&*after, "task", 1).await.remove(0);
    assert_eq!(second.key.job, held.key.job, "the row is there, as it was");
    assert!(
        second.key.fence > held.key.fence,
        "two run, and can be told apart"
    );
    let second_name = acquire(&*after, "name")
        .await
        .expect("nobody knows that it is held");
    assert!(second_name.fence > name.fence);
    let new = after.enqueue(&[job("other")]).await.expect("it answers")[0].id();
    assert!(new > lost, "no id is given out twice");

    // The first holder learns of it at its next heartbeat, and ends nothing.
    let mut renewer = after.renewer();
    renewer.connect().await.expect("it is there");
    let renewed = renewer.renew(&[renewal(&held.key), renewal(&name)]).await;
    assert!(renewed.expect("it answers").is_empty());
    assert!(
        after
            .finish(&[done(&held.key)])
            .await
            .expect("it answers")
            .is_empty()
    );
    let end = tasklock_runtime::store::Finish {
        then: Then::Slot(tasklock_runtime::Next::Dormant),
        ..done(&second.key)
    };
    assert_eq!(
        after.finish(&[end]).await.expect("it answers"),
        [second.key.job]
    );
}

/// What rests on fences still holds: the earlier holder's write is refused once the later one has written.
#[tokio::test]
async fn writes_that_register_their_fence_are_safe_all_the_same() {
    let Some((primary, replica)) = servers().await else {
        return;
    };
    let before = store(primary.url()).await;
    replica.follow(primary.url()).await;
    replica.lead().await;
    let first = acquire(&*before, "name").await.expect("it is free");
    let after = store(replica.url()).await;
    let second = acquire(&*after, "name")
        .await
        .expect("nobody knows that it is held");

    let file = sqlite::file();
    let options = SqliteConnectOptions::from_str(&file.url()).expect("it is a URL");
    let options = options.create_if_missing(true);
    let mut sql = SqliteConnection::connect_with(&options)
        .await
        .expect("it can be made");
    sql.execute(fence_table_sql(Dialect::Sqlite))
        .await
        .expect("it is new");
    let mut tx = sql
        .begin_with("BEGIN IMMEDIATE")
        .await
        .expect("nobody writes");
    fence_table(&mut tx, "name", second.fence)
        .await
        .expect("it is the greatest");
    tx.commit().await.expect("nobody writes");
    let mut tx = sql
        .begin_with("BEGIN IMMEDIATE")
        .await
        .expect("nobody writes");
    let refused = fence_table(&mut tx, "name", first.fence).await;
    assert!(
        matches!(refused, Err(FenceError::Stale { .. })),
        "{refused:?}"
    );
}

/// Whoever writes to a replica is told what to do.
#[tokio::test]
async fn a_replica_takes_no_writes_and_says_so() {
    let Some((primary, replica)) = servers().await else {
        return;
    };
    let before = store(primary.url()).await;
    let name = acquire(&*before, "name").await.expect("it is free");
    replica.follow(primary.url()).await;
    let after = crate::steps::open(replica.url(), None)
        .await
        .expect("it is there");
    after.check_schema().await.expect("it can be read");
    let refused = after.release(&[name]).await.expect_err("it is read-only");
    assert_eq!(
        refused.kind(),
        tasklock_runtime::StoreErrorKind::NotWritable
    );
    assert!(refused.to_string().contains("primary"), "{refused}");
}
