//! What only Redis has: places, settings that a restart finds, replicas.

use redis::AsyncCommands;
use tasklock_test_support::redis::{Server, Stop, place};

#[tokio::test]
async fn places_are_separate_and_are_emptied() {
    let (Some(one), Some(two)) = (place().await, place().await) else {
        return;
    };
    assert_ne!(one.prefix(), two.prefix());
    assert!(one.prefix().starts_with("t_") && one.prefix().len() <= 40);
    let mut connection = one.connect().await;
    for place in [&one, &two] {
        for number in 0..3000 {
            let key = format!("{}{number}", place.prefix());
            let () = connection.set(key, number).await.unwrap();
        }
    }
    let all = |prefix: &str| format!("{prefix}*");
    let (first, second) = (all(one.prefix()), all(two.prefix()));
    drop(one);
    let left: Vec<String> = connection.keys(first).await.unwrap();
    assert!(left.is_empty(), "{left:?}");
    let others: Vec<String> = connection.keys(second).await.unwrap();
    assert_eq!(others.len(), 3000);
}

#[tokio::test]
async fn settings_are_there_after_a_restart() {
    let Some(server) = Server::start().await else {
        return;
    };
    server.set("appendonly", "yes").await;
    let () = server.connect().await.set("kept", 1).await.unwrap();
    for how in [Stop::Fast, Stop::Immediate] {
        server.restart(how).await;
        let kept: i64 = server.connect().await.get("kept").await.unwrap();
        assert_eq!(kept, 1);
    }
}

#[tokio::test]
async fn a_replica_has_what_the_other_has_and_can_take_over() {
    let (Some(primary), Some(replica)) = (Server::start().await, Server::start().await) else {
        return;
    };
    let mut to_primary = primary.connect().await;
    let () = to_primary.set("before", 1).await.unwrap();
    replica.follow(primary.url()).await;
    let mut to_replica = replica.connect().await;
    let before: i64 = to_replica.get("before").await.unwrap();
    assert_eq!(before, 1);

    let () = to_primary.set("after", 2).await.unwrap();
    let mut waiting = redis::cmd("WAIT");
    // Without a bound: the connection has one.
    waiting.arg(1).arg(0);
    let replicas: i64 = waiting.query_async(&mut to_primary).await.unwrap();
    assert_eq!(replicas, 1);
    primary.stop(Stop::Immediate).await;
    replica.lead().await;
    let after: i64 = to_replica.get("after").await.unwrap();
    assert_eq!(after, 2);
    let () = to_replica.set("later", 3).await.unwrap();
}
