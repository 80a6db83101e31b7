//! Statements and transactions are counted as they happened.

use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tasklock_test_support::postgres::database;
use tasklock_test_support::stats::{Statements, sessions, settled_transactions, transactions};

const BOUND: Duration = Duration::from_secs(30);

async fn run(connection: &mut PgConnection, statement: &'static str) {
    sqlx::query(statement).execute(connection).await.unwrap();
}

#[tokio::test]
async fn statements_are_counted_at_once_in_their_database_only() {
    let (Some(database), Some(other)) = (database().await, database().await) else {
        return;
    };
    let mut statements = Statements::from_now(&database).await;
    let (mut here, mut there) = (database.connect().await, other.connect().await);
    statements.reset().await;
    run(&mut here, "create table work (id int)").await;
    for _ in 0..5 {
        run(&mut here, "UPDATE work SET id = 1").await;
        run(&mut there, "select 1").await;
    }
    assert_eq!(
        statements.calls("update work").await,
        5,
        "the session is still open"
    );
    assert_eq!(statements.calls("^select").await, 0);
    assert_eq!(statements.total().await, 6, "{:?}", statements.list().await);
    assert_eq!(
        statements.list().await[0],
        ("UPDATE work SET id = $1".to_owned(), 5)
    );

    let mut transaction = here.begin().await.unwrap();
    run(&mut transaction, "update work set id = 2").await;
    transaction.commit().await.unwrap();
    assert_eq!(statements.calls("^(begin|commit)$").await, 2);

    statements.reset().await;
    assert_eq!(statements.total().await, 0);
}

#[tokio::test]
async fn many_can_begin_to_count_at_once() {
    let Some(database) = database().await else {
        return;
    };
    let counting = async || drop(Statements::from_now(&database).await);
    tokio::join!(counting(), counting(), counting(), counting());
}

#[tokio::test]
async fn settled_transactions_are_exact_and_looking_is_not_counted() {
    let Some(database) = database().await else {
        return;
    };
    let before = settled_transactions(&database, BOUND).await;
    for _ in 0..10 {
        assert_eq!(transactions(&database).await, before);
    }
    let mut connection = database.connect().await;
    assert_eq!(sessions(&database).await, 1);
    for _ in 0..20 {
        run(&mut connection, "select 1").await;
    }
    let mut transaction = connection.begin().await.unwrap();
    run(&mut transaction, "select 2").await;
    transaction.rollback().await.unwrap();
    connection.close().await.unwrap();
    // The session's own one; preparing `select 1`; its runs; the one rolled back.
    assert_eq!(
        settled_transactions(&database, BOUND).await - before,
        1 + 1 + 20 + 1
    );
}

#[tokio::test]
#[should_panic(expected = "stats.rs")]
async fn an_open_session_does_not_settle() {
    let Some(database) = database().await else {
        panic!("left out, as tests/stats.rs may be")
    };
    let _connection = database.connect().await;
    settled_transactions(&database, Duration::from_millis(100)).await;
}
