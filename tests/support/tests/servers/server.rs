//! A server of a test's own, of each kind.

use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use tasklock_test_support::process::{Signal, alive, signal};
use tasklock_test_support::proxy::Proxy;
use tasklock_test_support::server::{Server, Stop};
use tasklock_test_support::wait::eventually;

use crate::subject::Subject;
use crate::{NO_ANSWER, on_each};

const BOUND: Duration = Duration::from_secs(30);

on_each! {
    [postgres: sqlx::Postgres, mysql: sqlx::MySql, redis: tasklock_test_support::redis::Redis]
    it_comes_back_at_the_same_place,
    paused_it_keeps_its_connections_and_answers_later,
    paused_it_can_be_stopped,
    killed_it_can_be_started_again,
    it_is_reached_through_a_proxy,
    nobody_else_gets_in,
    it_goes_with_its_handle,
    it_goes_with_a_panic,
    mistakes_are_said,
}

async fn is_there_if_kept<K: Subject>(server: &Server<K>) {
    let mut connection = K::connected(server.url()).await;
    if K::KEEPS {
        assert_eq!(K::count(&mut connection).await, Ok(1));
    } else {
        assert_eq!(K::count(&mut connection).await, Ok(0));
    }
}

async fn it_comes_back_at_the_same_place<K: Subject>() {
    let Some(server) = Server::<K>::start().await else {
        return;
    };
    K::add(&mut K::connected(server.url()).await).await.unwrap();
    for how in [Stop::Fast, Stop::Immediate] {
        let mut before = K::connected(server.url()).await;
        let pid = server.pid();
        server.stop(how).await;
        assert!(!alive(pid));
        assert!(K::add(&mut before).await.is_err());
        let refused = K::connect(server.url()).await.err().unwrap();
        assert!(refused.contains("refused"), "{refused}");

        server.start_again().await;
        is_there_if_kept(&server).await;
    }
    server.restart(Stop::Fast).await;
    is_there_if_kept(&server).await;
}

async fn paused_it_keeps_its_connections_and_answers_later<K: Subject>() {
    let Some(server) = Server::<K>::start().await else {
        return;
    };
    let mut connection = K::connected(server.url()).await;
    K::add(&mut connection).await.unwrap();
    server.pause().await;
    let mut answer = Box::pin(K::count(&mut connection));
    assert!(tokio::time::timeout(NO_ANSWER, &mut answer).await.is_err());
    server.resume().await;
    assert_eq!(answer.await, Ok(1));
}

async fn paused_it_can_be_stopped<K: Subject>() {
    let Some(server) = Server::<K>::start().await else {
        return;
    };
    let mut connection = K::connected(server.url()).await;
    K::add(&mut connection).await.unwrap();
    server.pause().await;
    server.stop(Stop::Fast).await;
    server.start_again().await;
    is_there_if_kept(&server).await;
}

async fn killed_it_can_be_started_again<K: Subject>() {
    let Some(server) = Server::<K>::start().await else {
        return;
    };
    let mut before = K::connected(server.url()).await;
    K::add(&mut before).await.unwrap();
    let killed = server.pid();
    signal(killed, Signal::KILL);
    eventually(BOUND, || !alive(killed));
    // If it has other processes, they notice, and close their connections.
    while K::count(&mut before).await.is_ok() {}
    server.start_again().await;
    assert_ne!(server.pid(), killed);
    is_there_if_kept(&server).await;
}

async fn it_is_reached_through_a_proxy<K: Subject>() {
    let Some(server) = Server::<K>::start().await else {
        return;
    };
    let proxy = Proxy::before(server.url()).unwrap();
    let mut connection = K::connected(&proxy.url(server.url())).await;
    K::add(&mut connection).await.unwrap();
    assert_eq!(proxy.counts().open, 1);
    proxy.reset_all();
    assert!(K::count(&mut connection).await.is_err());
}

async fn nobody_else_gets_in<K: Subject>() {
    let Some(server) = Server::<K>::start().await else {
        return;
    };
    K::add(&mut K::connected(server.url()).await).await.unwrap();
    let (scheme, rest) = server.url().split_once("://").unwrap();
    let (_, place) = rest.rsplit_once('@').unwrap();
    for login in ["", "root@", "tasklock@", ":wrong@", "tasklock:wrong@"] {
        // Some are refused at once, some with their first command.
        let counting = async {
            let mut connection = K::connect(&format!("{scheme}://{login}{place}")).await?;
            K::count(&mut connection).await
        };
        let refused = counting.await;
        assert!(refused.is_err(), "{login}: {refused:?}");
    }
    let elsewhere = place
        .split('/')
        .next()
        .unwrap()
        .replace("127.0.0.1", "127.0.0.2");
    assert!(
        TcpStream::connect(elsewhere).is_err(),
        "it listens on 127.0.0.1 only"
    );
}

async fn it_goes_with_its_handle<K: Subject>() {
    let Some(server) = Server::<K>::start().await else {
        return;
    };
    let (url, pid) = (server.url().to_owned(), server.pid());
    drop(server);
    assert!(!alive(pid));
    assert!(K::connect(&url).await.is_err());
}

async fn it_goes_with_a_panic<K: Subject>() {
    let panicking = tokio::spawn(async {
        if let Some(server) = Server::<K>::start().await {
            std::panic::panic_any((server.pid(), server.url().to_owned()));
        }
    });
    let Err(error) = panicking.await else { return };
    let panic = error.into_panic();
    let (pid, url) = *panic.downcast::<(i32, String)>().unwrap();
    assert!(!alive(pid));
    assert!(K::connect(&url).await.is_err());
}

async fn mistakes_are_said<K: Subject>() {
    let Some(server) = Server::<K>::start().await else {
        return;
    };
    let server = Arc::new(server);
    let again = Arc::clone(&server);
    let panic = tokio::spawn(async move { again.start_again().await })
        .await
        .unwrap_err();
    let message = panic.into_panic().downcast::<String>().unwrap();
    for part in [K::PRODUCT, "running already"] {
        assert!(message.contains(part), "{message}");
    }
}
