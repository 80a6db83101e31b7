//! What a server refuses is said in words, and leaves nothing half-written.

use tasklock_runtime::StoreErrorKind;
use tasklock_test_support::redis::Server;

use crate::steps::{claim, done, job, open, store};

/// Out of memory: the script's first write is refused, and so nothing of it is there.
#[tokio::test]
async fn a_full_server_takes_nothing_and_loses_nothing() {
    let Some(server) = Server::start().await else {
        return;
    };
    let store = store(server.url()).await;
    store
        .enqueue(&[job("task"), job("task")])
        .await
        .expect("it answers");
    let held = claim(&*store, "task", 1).await.remove(0);
    let mut connection = server.connect().await;
    let before = dump(&mut connection).await;
    set_memory(&mut connection, "1").await;
    let refused = store
        .finish(&[done(&held.key)])
        .await
        .expect_err("it is full");
    assert_eq!(refused.kind(), StoreErrorKind::NotWritable, "{refused}");
    assert!(refused.to_string().contains("maxmemory"), "{refused}");
    let refused = store.enqueue(&[job("task")]).await.expect_err("it is full");
    assert_eq!(refused.kind(), StoreErrorKind::NotWritable, "{refused}");
    set_memory(&mut connection, "0").await;
    assert_eq!(dump(&mut connection).await, before);
    assert_eq!(
        store.finish(&[done(&held.key)]).await.expect("it answers"),
        [held.key.job]
    );
}

async fn set_memory(connection: &mut redis::aio::MultiplexedConnection, most: &str) {
    let mut set = redis::cmd("CONFIG");
    set.arg("SET").arg("maxmemory").arg(most);
    set.exec_async(connection).await.expect("it may be set");
}

/// All keys with what they hold.
async fn dump(connection: &mut redis::aio::MultiplexedConnection) -> Vec<(String, Vec<u8>)> {
    let keys = redis::cmd("KEYS").arg("*").query_async(connection).await;
    let mut keys: Vec<String> = keys.expect("it answers");
    keys.sort_unstable();
    let mut held = Vec::new();
    for key in keys {
        let dump = redis::cmd("DUMP").arg(&key).query_async(connection).await;
        held.push((key, dump.expect("it answers")));
    }
    held
}

#[tokio::test]
async fn what_cannot_be_reached_says_why() {
    let Some(server) = Server::start().await else {
        return;
    };
    let unknown = server
        .url()
        .replacen("redis://", "redis://nobody:wrong@", 1);
    // The server's own URL may name a user already.
    let unknown = match server.url().split_once('@') {
        Some((_, host)) => format!("redis://nobody:wrong@{host}"),
        None => unknown,
    };
    let refused = open(&unknown, None)
        .await
        .expect_err("nobody has this password");
    assert!(
        refused.to_string().contains("user and password"),
        "{refused}"
    );
    assert!(!refused.to_string().contains("wrong@"), "{refused}");
    let refused = open("redis://127.0.0.1:1", None)
        .await
        .expect_err("nobody listens");
    assert!(refused.to_string().contains("connect"), "{refused}");
    let tls = open("rediss://127.0.0.1:1", None)
        .await
        .expect_err("nobody listens");
    assert!(!tls.to_string().is_empty());
    let refused = open(server.url(), Some("a{b"))
        .await
        .expect_err("it is no hash tag");
    assert!(refused.to_string().contains("table_prefix"), "{refused}");
}
