//! Places are separate and go away; a server comes back empty.

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
async fn a_server_comes_back_empty_at_the_same_place() {
    let Some(server) = Server::start().await else {
        return;
    };
    for how in [Stop::Fast, Stop::Immediate] {
        let mut before = server.connect().await;
        let () = before.set("kept", 1).await.unwrap();
        server.restart(how).await;
        assert!(before.exists::<_, bool>("kept").await.is_err());
        let kept: bool = server.connect().await.exists("kept").await.unwrap();
        assert!(!kept);
    }
}
