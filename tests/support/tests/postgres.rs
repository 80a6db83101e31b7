//! Databases are fresh and go away; servers stop, restart and pause.

use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tasklock_test_support::postgres::{Database, Server, Stop, database};
use tasklock_test_support::process::{Signal, alive, signal};
use tasklock_test_support::wait::eventually;

const BOUND: Duration = Duration::from_secs(30);
/// Long enough for any answer, short enough to wait for none.
const NO_ANSWER: Duration = Duration::from_millis(500);

async fn run(connection: &mut PgConnection, statement: &'static str) -> Result<(), sqlx::Error> {
    sqlx::query(statement).execute(connection).await.map(drop)
}

async fn count(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("select count(*) from kept")
        .fetch_one(connection)
        .await
}

async fn exists(server_url: &str, name: &str) -> bool {
    let mut connection = PgConnection::connect(server_url).await.unwrap();
    let found = sqlx::query_scalar("select exists (select from pg_database where datname = $1)");
    found.bind(name).fetch_one(&mut connection).await.unwrap()
}

#[tokio::test]
async fn databases_are_separate_and_are_dropped_while_in_use() {
    let (Some(one), Some(two)) = (database().await, database().await) else {
        return;
    };
    assert_ne!(one.name(), two.name());
    let (mut in_one, mut in_two) = (one.connect().await, two.connect().await);
    run(&mut in_one, "create table kept (id int)")
        .await
        .unwrap();
    assert_eq!(count(&mut in_one).await.unwrap(), 0);
    assert!(count(&mut in_two).await.is_err());

    let (server, name) = (one.server_url().to_owned(), one.name().to_owned());
    assert!(exists(&server, &name).await);
    drop(one);
    assert!(!exists(&server, &name).await);
    assert!(in_one.ping().await.is_err());
    in_two.ping().await.unwrap();
}

#[tokio::test]
async fn many_databases_are_made_at_once() {
    let making: Vec<_> = (0..6).map(|_| tokio::spawn(database())).collect();
    for database in making {
        if let Some(database) = database.await.unwrap() {
            database.connect().await.ping().await.unwrap();
        }
    }
}

async fn with_a_row(server: &Server) -> Database {
    let database = server.database().await;
    let mut connection = database.connect().await;
    run(&mut connection, "create table kept (id int)")
        .await
        .unwrap();
    run(&mut connection, "insert into kept values (1)")
        .await
        .unwrap();
    database
}

#[tokio::test]
async fn a_server_comes_back_with_its_data_at_the_same_place() {
    let Some(server) = Server::start().await else {
        return;
    };
    let database = with_a_row(&server).await;
    for how in [Stop::Fast, Stop::Immediate] {
        let mut before = database.connect().await;
        let pid = server.pid();
        server.stop(how).await;
        assert!(!alive(pid));
        assert!(before.ping().await.is_err());
        let refused = PgConnection::connect(database.url()).await.unwrap_err();
        assert!(matches!(refused, sqlx::Error::Io(_)), "{refused}");

        server.start_again().await;
        assert_eq!(count(&mut database.connect().await).await.unwrap(), 1);
    }
    server.restart(Stop::Fast).await;
    assert_eq!(count(&mut database.connect().await).await.unwrap(), 1);
}

#[tokio::test]
async fn a_paused_server_keeps_its_connections_and_answers_later() {
    let Some(server) = Server::start().await else {
        return;
    };
    let database = with_a_row(&server).await;
    let mut connection = database.connect().await;
    server.pause().await;
    let mut answer = Box::pin(count(&mut connection));
    assert!(tokio::time::timeout(NO_ANSWER, &mut answer).await.is_err());
    server.resume().await;
    assert_eq!(answer.await.unwrap(), 1);
}

#[tokio::test]
async fn a_paused_server_can_be_stopped() {
    let Some(server) = Server::start().await else {
        return;
    };
    let database = with_a_row(&server).await;
    let _connection = database.connect().await;
    server.pause().await;
    server.stop(Stop::Fast).await;
    server.start_again().await;
    assert_eq!(count(&mut database.connect().await).await.unwrap(), 1);
}

#[tokio::test]
async fn a_killed_server_can_be_started_again() {
    let Some(server) = Server::start().await else {
        return;
    };
    let database = with_a_row(&server).await;
    let mut before = database.connect().await;
    let killed = server.pid();
    signal(killed, Signal::KILL);
    eventually(BOUND, || !alive(killed));
    // Its other processes notice, and close their connections.
    while before.ping().await.is_ok() {}
    server.start_again().await;
    assert_ne!(server.pid(), killed);
    assert_eq!(count(&mut database.connect().await).await.unwrap(), 1);
}

#[tokio::test]
async fn a_server_goes_with_its_handle() {
    let Some(server) = Server::start().await else {
        return;
    };
    let (url, pid) = (server.url().to_owned(), server.pid());
    drop(server);
    assert!(!alive(pid));
    assert!(PgConnection::connect(&url).await.is_err());
}

#[tokio::test]
async fn a_server_goes_with_a_panic() {
    let panicking = tokio::spawn(async {
        if let Some(server) = Server::start().await {
            std::panic::panic_any((server.pid(), server.url().to_owned()));
        }
    });
    let Err(error) = panicking.await else { return };
    let panic = error.into_panic();
    let (pid, url) = *panic.downcast::<(i32, String)>().unwrap();
    assert!(!alive(pid));
    assert!(PgConnection::connect(&url).await.is_err());
}

#[tokio::test]
async fn mistakes_with_a_server_are_said() {
    let Some(server) = Server::start().await else {
        return;
    };
    let server = std::sync::Arc::new(server);
    let again = std::sync::Arc::clone(&server);
    let panic = tokio::spawn(async move { again.start_again().await })
        .await
        .unwrap_err();
    let message = panic.into_panic().downcast::<String>().unwrap();
    assert!(message.contains("running already"), "{message}");
}
